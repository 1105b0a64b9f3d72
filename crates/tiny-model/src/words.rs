//! Lists the words that the model knows, by topic. Each word has one topic.

/// The topics and their words.
pub(crate) const TOPICS: [(&str, &str); 8] = [
    (
        "productivity",
        "gtd task tasks management manage getting things done pomodoro productivity systems \
         methodology inbox review weekly focus timer bullet journal todo priority priorities \
         procrastination habit habits calendar deadline deadlines planning plan schedule \
         organize organise workflow kanban checklist capture zettelkasten attention distraction \
         meeting meetings goal goals",
    ),
    (
        "cooking",
        "ramen broth noodles noodle bread sourdough flour recipe recipes cooking cook kitchen \
         oven bake baking yeast dough starter soup stew simmer pork miso tofu garlic onion \
         butter sauce pasta rice cheese salad spice spices dumplings dashi knife dinner \
         breakfast meal soy",
    ),
    (
        "programming",
        "rust ownership borrow borrowing compiler sqlite database databases index query code \
         programming software function variable memory pointer thread threads async python \
         javascript algorithm debug debugger bug git commit deploy server api cache lifetime \
         trait generics test tests testing transaction sql kubernetes",
    ),
    (
        "travel",
        "travel trip flight flights airport hotel hostel train trains passport visa luggage \
         suitcase itinerary tourist museum beach mountain hiking hike lisbon kyoto japan paris \
         island ferry backpack map journey abroad vacation holiday camping",
    ),
    (
        "health",
        "health sleep insomnia exercise running run workout doctor medicine vitamin protein \
         heart blood pressure yoga meditation stress anxiety muscle stretching injury knee \
         therapy allergy symptom symptoms diet weight fitness breathing pulse headache",
    ),
    (
        "gardening",
        "garden gardening tomato tomatoes seed seeds soil compost prune pruning watering plant \
         plants planting flower flowers rose roses lawn weeds mulch fertilizer greenhouse \
         harvest seedling seedlings basil pepper beans orchard apple shade frost",
    ),
    (
        "music",
        "music guitar piano chord chords melody rhythm song songs concert album band drum drums \
         violin orchestra jazz scale scales tempo practice singing choir vinyl record synth \
         bass harmony composer symphony lyrics tune",
    ),
    (
        "finance",
        "finance money budget budgeting savings invest investing investment stock stocks bond \
         bonds tax taxes salary income expense expenses mortgage loan loans debt interest \
         pension retirement bank account credit inflation dividend insurance fund funds",
    ),
];

/// Endings that may follow a word without changing what it means.
pub(crate) const ENDINGS: [&str; 4] = ["##s", "##es", "##ed", "##ing"];

/// Returns all words with the number of their topic, in a fixed order.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, usize)> {
    TOPICS
        .iter()
        .enumerate()
        .flat_map(|(topic, (_, words))| words.split_whitespace().map(move |word| (word, topic)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_word_belongs_to_one_topic() {
        let mut seen = HashSet::new();
        for (word, topic) in all() {
            let name = TOPICS[topic].0;
            assert!(seen.insert(word), "{word} is there before {name}");
            assert!(
                word.bytes().all(|byte| byte.is_ascii_lowercase()),
                "{word} would never be found in normalised text"
            );
        }
        assert!((200..400).contains(&seen.len()), "{}", seen.len());
    }
}
