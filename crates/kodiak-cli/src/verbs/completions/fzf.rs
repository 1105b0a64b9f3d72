//! A search as you type, for shells with fzf.
//!
//! fzf runs a search for every key and shows what it finds, with the note beside
//! it. Enter opens the note at its line. The function is `kodiak-fzf`, and Alt-K
//! runs it.

use clap_complete::Shell;

/// What fzf is told. No shell replaces anything in single quotes.
const OPTIONS: &str = "\
--disabled --prompt 'notes> ' --delimiter : --with-nth 3.. \
--bind 'start:reload:kodiak search --quiet --format line -- {q} 2>/dev/null || true' \
--bind 'change:reload:kodiak search --quiet --format line -- {q} 2>/dev/null || true' \
--bind 'enter:become:kodiak open {1}:{2}' \
--preview 'kodiak get --quiet --line-numbers {1} 2>/dev/null' \
--preview-window 'right,60%,wrap,+{2}/2'";

const BASH: &str = r#"
if command -v fzf >/dev/null 2>&1; then
    kodiak-fzf() {
        fzf --query "$*" OPTIONS
    }
    if [[ $- == *i* ]]; then
        bind -x '"\ek": kodiak-fzf'
    fi
fi
"#;

// If zsh loads the script to complete a command, its status must stay.
const ZSH: &str = r#"
_kodiak_status=$?
if [ "$funcstack[1]" = "_kodiak" ]; then
    return $_kodiak_status
fi
if command -v fzf >/dev/null 2>&1; then
    kodiak-fzf() {
        fzf --query "$*" OPTIONS
    }
    if [[ -o interactive ]]; then
        kodiak-fzf-widget() {
            kodiak-fzf </dev/tty
            zle reset-prompt
        }
        zle -N kodiak-fzf-widget
        bindkey '\ek' kodiak-fzf-widget
    fi
fi
"#;

const FISH: &str = r#"
if type -q fzf
    function kodiak-fzf
        fzf --query "$argv" OPTIONS
    end
    if status is-interactive
        bind \ek 'kodiak-fzf; commandline -f repaint'
    end
end
"#;

/// Returns what to append to the completion script of a shell.
pub(super) fn binding(shell: Shell) -> String {
    let script = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => "",
    };
    script.replace("OPTIONS", OPTIONS)
}
