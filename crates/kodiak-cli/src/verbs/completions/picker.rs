//! Alt-K in a shell: picks a note and puts its path where the cursor is.

use clap_complete::Shell;

const BASH: &str = r#"
_kodiak_pick() {
    local choice
    choice="$(kodiak pick --print)" || return
    printf -v choice '%q ' "$choice"
    READLINE_LINE="${READLINE_LINE:0:READLINE_POINT}$choice${READLINE_LINE:READLINE_POINT}"
    READLINE_POINT=$((READLINE_POINT + ${#choice}))
}
if [[ $- == *i* ]]; then
    bind -x '"\ek": _kodiak_pick'
fi
"#;

// If zsh loads the script to complete a command, its status must stay.
const ZSH: &str = r#"
_kodiak_status=$?
if [ "$funcstack[1]" = "_kodiak" ]; then
    return $_kodiak_status
fi
if [[ -o interactive ]]; then
    kodiak-pick-widget() {
        local choice
        choice="$(kodiak pick --print </dev/tty)" && LBUFFER+="${(q)choice} "
        zle reset-prompt
    }
    zle -N kodiak-pick-widget
    bindkey '\ek' kodiak-pick-widget
fi
"#;

const FISH: &str = r#"
if status is-interactive
    function kodiak-pick-widget
        set -l choice (kodiak pick --print)
        and commandline --insert -- (string escape -- $choice)" "
        commandline -f repaint
    end
    bind \ek kodiak-pick-widget
end
"#;

/// Returns the lines to append to the completion script of a shell.
pub(super) fn binding(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    }
}
