//! The prompt that shows an agent how to find its way: from what happened when,
//! to what matters, to what it says.

/// Its name.
pub(crate) const NAME: &str = "look_up";
/// What it is for.
pub(crate) const DESCRIPTION: &str = "Look something up in notes, memories and sessions";
/// The name of its argument.
pub(crate) const TOPIC: &str = "topic";
/// What its argument is for.
pub(crate) const TOPIC_DESCRIPTION: &str = "What to look up";
/// The longest topic in characters.
const LONGEST: usize = 2_000;

/// Returns the text of the prompt.
pub(crate) fn text(topic: &str) -> String {
    let topic: String = topic.trim().chars().take(LONGEST).collect();
    let topic = if topic.is_empty() {
        "what I ask next"
    } else {
        &topic
    };
    format!(
        "Look this up in Kodiak: {topic}\n\n\
         1. timeline shows what was written when, in few tokens: use it to learn the period and \
         the words that were used.\n\
         2. search with those words, and with the question as a whole. Narrow with tags, kinds, \
         project, after and before rather than with more words.\n\
         3. get the two or three best by id, only the lines that matter.\n\n\
         Answer with the ids you used. If an answer was incomplete or lexical only, say that \
         something may be missing; if nothing relevant was found, say so."
    )
}
