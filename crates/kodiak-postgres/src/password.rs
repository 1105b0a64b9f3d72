//! The user of an address, and finding the password in a file of passwords, in the format of libpq:
//! lines of `host:port:database:user:password`, where `*` stands for anything and a
//! backslash takes the meaning from a colon or a backslash.
//!
//! Which file that is, and who may read it, is left to the caller.

use tokio_postgres::config::Host;

use crate::address::Address;

/// The port of an address that names none.
const PORT: u16 = 5432;

impl Address {
    /// Returns the name of the user that signs in, if the address has one.
    pub fn user(&self) -> Option<&str> {
        self.config.get_user()
    }

    /// Returns the password that a text in the format of `~/.pgpass` has for this address:
    /// that of the first line that fits one of its hosts.
    pub fn password_in(&self, text: &str) -> Option<String> {
        let ports = self.config.get_ports();
        let user = self.config.get_user().unwrap_or_default();
        let database = self.config.get_dbname().unwrap_or(user);
        let lines: Vec<Vec<String>> = text.lines().filter_map(fields).collect();
        for (number, host) in self.config.get_hosts().iter().enumerate() {
            let port = ports.get(number).or(ports.first()).unwrap_or(&PORT);
            let host = match host {
                Host::Tcp(name) => name.as_str(),
                #[cfg(unix)]
                Host::Unix(_) => "localhost",
            };
            let wanted = [host, &port.to_string(), database, user];
            let fits = |line: &&Vec<String>| {
                let mut pairs = line.iter().zip(wanted);
                pairs.all(|(given, wanted)| given == "*" || given == wanted)
            };
            if let Some(line) = lines.iter().find(fits) {
                return line.last().cloned();
            }
        }
        None
    }
}

/// Returns the five fields of a line; `None` if it is a comment or has fewer.
fn fields(line: &str) -> Option<Vec<String>> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        let last = fields.len() == 5;
        let field = fields.last_mut()?;
        match sign {
            '\\' => field.extend(signs.next()),
            ':' if !last => fields.push(String::new()),
            sign => field.push(sign),
        }
    }
    (fields.len() == 5).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# a comment\n\
                    db.example:5433:notes:ada:first\n\
                    *:*:notes:ada:sec\\:ond:x\n\
                    localhost:5432:*:*:third\n\
                    short:line\n";
        for (address, password) in [
            ("postgres://ada@db.example:5433/notes", Some("first")),
            ("postgres://ada@db.example/notes", Some("sec:ond:x")),
            ("postgres://bob@localhost/other", Some("third")),
            ("postgres://bob@elsewhere,localhost/other", Some("third")),
            ("postgres://bob@db.example/notes", None),
        ] {
            let address = Address::parse(address).unwrap();
            assert_eq!(address.password_in(file).as_deref(), password);
        }
    }
}
