//! Generates text with the word frequencies of real text, the same in every run.

use fastrand::Rng;

/// The number of different words.
const WORDS: usize = 60_000;
/// The average number of words in a document.
const LENGTH: usize = 170;
/// The number of different two-character words in Chinese text, and how many of
/// them share their first character.
const CHINESE_WORDS: usize = 20_000;
const CHINESE_PAIRS: usize = 20;
/// The number of words in a Chinese sentence.
const CHINESE_SENTENCE: usize = 8;
/// The interval of notes that also have Chinese text, and its number of words.
const CHINESE_EVERY: usize = 10;
const CHINESE_LENGTH: usize = 60;

/// Generates documents and queries from a seed.
pub(crate) struct Generator {
    random: Rng,
    cumulative: Vec<f64>,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        let mut total = 0.0;
        let cumulative = (1..=WORDS)
            .map(|rank| {
                total += 1.0 / rank as f64;
                total
            })
            .collect();
        Self {
            random: Rng::with_seed(seed.wrapping_mul(2).wrapping_add(1)),
            cumulative,
        }
    }

    /// Returns a random rank below `ranks`; low ranks are the most frequent.
    fn rank(&mut self, ranks: usize) -> usize {
        let sums = &self.cumulative[..ranks];
        let point = self.random.f64() * sums.last().copied().unwrap_or(1.0);
        sums.partition_point(|&sum| sum < point)
    }

    /// Returns a random word by its frequency.
    pub(crate) fn word(&mut self) -> String {
        spelled(self.rank(WORDS))
    }

    /// Returns a word that occurs in few documents.
    pub(crate) fn rare_word(&mut self) -> String {
        let rank = WORDS / 2 + self.random.usize(..WORDS / 2);
        spelled(rank)
    }

    /// Returns this many words with spaces between them.
    pub(crate) fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// Returns queries: a rare word, a word, two words and three, in turns.
    pub(crate) fn queries(&mut self, count: usize) -> Vec<String> {
        let query = |number| match number % 4 {
            0 => self.rare_word(),
            1 => self.word(),
            2 => self.words(2),
            _ => format!("{} {}", self.words(2), self.rare_word()),
        };
        (0..count).map(query).collect()
    }

    /// Returns a title and a body.
    pub(crate) fn document(&mut self) -> (String, String) {
        let title = self.words(4);
        let length = LENGTH / 2 + self.random.usize(..LENGTH);
        (title, self.words(length))
    }

    /// Returns the title and the body of the note with this number, independent of
    /// the notes generated before. Some end in Chinese.
    pub(crate) fn note(&mut self, number: usize) -> (String, String) {
        self.random = Rng::with_seed(Rng::with_seed(number as u64).u64(..));
        let (title, mut body) = self.document();
        if number.is_multiple_of(CHINESE_EVERY) {
            body += "\n\n";
            body += &self.chinese(CHINESE_LENGTH);
        }
        (title, body)
    }

    /// Returns this many Chinese words, in sentences without spaces.
    fn chinese(&mut self, count: usize) -> String {
        let mut text = String::new();
        for at in 1..=count {
            text.extend(characters(self.rank(CHINESE_WORDS)));
            if at % CHINESE_SENTENCE == 0 || at == count {
                text.push('。');
            }
        }
        text
    }
}

/// Returns the two characters of a word by its rank, a different pair for each.
fn characters(rank: usize) -> [char; 2] {
    let (first, second) = (rank / CHINESE_PAIRS, rank % CHINESE_PAIRS);
    // As in real words, a common first character is followed by any character.
    let at = |place: usize| char::from_u32(0x4E00 + place as u32).unwrap_or('一');
    [at(first * 7), at(first * 13 + second * 31 + 1)]
}

/// Returns a pronounceable word by its rank, different for each, without an ending
/// that a stemmer would remove.
fn spelled(mut rank: usize) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprtvz";
    const VOWELS: &[u8] = b"aou";
    let mut word = String::new();
    for _ in 0..2 {
        word.push(char::from(CONSONANTS[rank % CONSONANTS.len()]));
        rank /= CONSONANTS.len();
        word.push(char::from(VOWELS[rank % VOWELS.len()]));
        rank /= VOWELS.len();
    }
    while rank > 0 {
        word.push(char::from(CONSONANTS[rank % CONSONANTS.len()]));
        rank /= CONSONANTS.len();
        word.push('o');
    }
    word.push('k');
    word
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn is_chinese(character: char) -> bool {
        ('\u{4E00}'..='\u{9FFF}').contains(&character)
    }

    #[test]
    fn a_part_of_the_notes_has_chinese_sentences() {
        let mut generator = Generator::new(7);
        let chinese: Vec<usize> = (0..100)
            .filter(|&number| generator.note(number).1.contains(is_chinese))
            .collect();
        assert_eq!(chinese.len(), 100 / CHINESE_EVERY);
        let (_, body) = generator.note(chinese[0]);
        let (_, sentences) = body.split_once("\n\n").unwrap();
        assert!(sentences.chars().all(|one| is_chinese(one) || one == '。'));
        assert_eq!(
            sentences.chars().filter(|&one| is_chinese(one)).count(),
            2 * CHINESE_LENGTH
        );
    }

    #[test]
    fn chinese_words_differ_and_are_chinese() {
        let words: HashSet<[char; 2]> = (0..CHINESE_WORDS).map(characters).collect();
        assert_eq!(words.len(), CHINESE_WORDS);
        assert!(words.iter().flatten().all(|&one| is_chinese(one)));
    }

    #[test]
    fn common_chinese_words_recur() {
        let mut generator = Generator::new(7);
        let commonest: String = characters(0).iter().collect();
        let having = (0..1_000)
            .filter(|&number| generator.note(number).1.contains(&commonest))
            .count();
        assert!(having > 50, "{having}");
    }

    #[test]
    fn a_note_is_the_same_whatever_was_made_before() {
        let mut generator = Generator::new(7);
        let first = generator.note(20);
        generator.note(3);
        generator.words(5);
        assert_eq!(generator.note(20), first);
        assert_ne!(generator.note(21), first);
    }
}
