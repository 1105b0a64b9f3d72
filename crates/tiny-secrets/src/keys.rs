//! Private keys of several lines.

use crate::random::{BASE64, HEX, LETTERS, Random};

/// What must be gone, and the text.
pub(crate) type Snippet = (Vec<String>, String);

fn lines(random: &mut Random, count: usize, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = (1..count).map(|_| random.of(BASE64, width)).collect();
    let last = format!("{}q7=", random.of(LETTERS, 20));
    lines.push(last);
    lines
}

/// A key between its first and its last line, or cut off before that.
pub(crate) fn pem(random: &mut Random) -> Snippet {
    let label = random.one(&["RSA ", "EC ", "", "OPENSSH ", "DSA ", "ENCRYPTED "]);
    let (count, width) = if label == "EC " { (4, 64) } else { (9, 64) };
    let body = lines(random, count, width);
    let text = format!(
        "-----BEGIN {label}PRIVATE KEY-----\n{}\n-----END {label}PRIVATE KEY-----",
        body.join("\n")
    );
    (body, around(&text, random))
}

/// A key of which the last lines are missing.
pub(crate) fn cut_off(random: &mut Random) -> Snippet {
    let mut body = lines(random, 8, 64);
    body.truncate(2 + random.below(5));
    let cut = 20 + random.below(44);
    if let Some(last) = body.last_mut() {
        last.truncate(cut);
    }
    let text = format!("-----BEGIN RSA PRIVATE KEY-----\n{}", body.join("\n"));
    (body, format!("$ head -n 7 ~/.ssh/id_rsa\n{text}"))
}

/// A key with headers, as older programs encrypt them.
pub(crate) fn with_headers(random: &mut Random) -> Snippet {
    let body = lines(random, 6, 64);
    let salt = random.of("0123456789ABCDEF", 32);
    let text = format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{salt}\n\n{}\n-----END RSA PRIVATE KEY-----",
        body.join("\n")
    );
    (body, around(&text, random))
}

/// A key of `OpenPGP`.
pub(crate) fn pgp(random: &mut Random) -> Snippet {
    let body = lines(random, 9, 64);
    let text = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----",
        body.join("\n")
    );
    (body, around(&text, random))
}

/// A key of `PuTTY`. Its public lines are not secret.
pub(crate) fn putty(random: &mut Random) -> Snippet {
    let (public, private) = (lines(random, 4, 64), lines(random, 6, 64));
    let version = random.one(&["2", "3"]);
    let mac = random.of(HEX, 40);
    let mut text = format!(
        "PuTTY-User-Key-File-{version}: ssh-rsa\nEncryption: none\nComment: rsa-key-20260114\nPublic-Lines: 4\n{}\nPrivate-Lines: 6\n{}",
        public.join("\n"),
        private.join("\n"),
    );
    if random.below(4) > 0 {
        text.push_str(&format!("\nPrivate-MAC: {mac}"));
    }
    (private, around(&text, random))
}

fn around(text: &str, random: &mut Random) -> String {
    match random.below(3) {
        0 => text.to_owned(),
        1 => format!("$ cat key\n{text}\n$ ls"),
        _ => format!("this is what the file has:\n\n{text}\n\nIt was made in March."),
    }
}
