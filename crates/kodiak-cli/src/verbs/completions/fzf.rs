//! A search as you type, for shells with fzf.
//!
//! fzf runs a search for every key and shows the hits, with the note beside them. Enter
//! opens the note at its line. The function is `kodiak-fzf`. Each search is a separate
//! process, so it is by words alone: loading the model would take longer than typing the
//! next key.

use clap_complete::Shell;

/// The options of fzf. No shell replaces anything in single quotes.
const OPTIONS: &str = "\
--disabled --prompt 'notes> ' --delimiter : \
--bind 'start:reload:SEARCH -- {q} 2>/dev/null || true' \
--bind 'change:reload:SEARCH -- {q} 2>/dev/null || true' \
--bind 'enter:become:kodiak open {1}:{2}' \
--preview 'kodiak get --quiet --line-numbers {1} 2>/dev/null | sed {2}\"s/^/> /\"' \
--preview-window 'right,60%,wrap,+{2}/2'";

/// The command that finds notes by a query that is being typed.
const SEARCH: &str = "kodiak search --quiet --model none --as-you-type --format line";

/// For bash and zsh.
const BASH: &str = r#"
if command -v fzf >/dev/null 2>&1; then
    kodiak-fzf() {
        fzf --query "$*" OPTIONS
    }
fi
"#;

const FISH: &str = r#"
if type -q fzf
    function kodiak-fzf
        fzf --query "$argv" OPTIONS
    end
end
"#;

/// Returns the lines to append to the completion script of a shell.
pub(super) fn binding(shell: Shell) -> String {
    let script = match shell {
        Shell::Bash | Shell::Zsh => BASH,
        Shell::Fish => FISH,
        _ => "",
    };
    script.replace("OPTIONS", OPTIONS).replace("SEARCH", SEARCH)
}
