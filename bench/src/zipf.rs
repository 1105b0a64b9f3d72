//! Text whose words are as unevenly spread as in real text, always the same.

/// Different words there are.
const WORDS: usize = 60_000;
/// Words in a document, on average.
const LENGTH: usize = 170;

/// Makes documents and queries from a seed.
pub(crate) struct Generator {
    state: u64,
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
            state: seed.wrapping_mul(2).wrapping_add(1),
            cumulative,
        }
    }

    /// splitmix64: small, quick and good enough for picking words.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn fraction(&mut self) -> f64 {
        (self.random() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word, the commonest most often.
    pub(crate) fn word(&mut self) -> String {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let point = self.fraction() * total;
        spelled(self.cumulative.partition_point(|&sum| sum < point))
    }

    /// A word that few documents have.
    pub(crate) fn rare_word(&mut self) -> String {
        let rank = WORDS / 2 + self.random() as usize % (WORDS / 2);
        spelled(rank)
    }

    /// So many words with spaces between them.
    pub(crate) fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// A title and a body.
    pub(crate) fn document(&mut self) -> (String, String) {
        let title = self.words(4);
        let length = LENGTH / 2 + self.random() as usize % LENGTH;
        (title, self.words(length))
    }
}

/// A pronounceable word for a rank, different for each and never an ending
/// that a stemmer would cut.
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
