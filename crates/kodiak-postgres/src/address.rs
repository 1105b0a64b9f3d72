//! Where an index is: the address of a server, the schema in its database, and how the
//! connection is protected.
//!
//! An address is that of libpq, `postgres://user@host:port/database`, with the options
//! below. The password comes from elsewhere: an address is shown in messages and in lists
//! of processes.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use kodiak_base::error::{Error, Result};

/// The schema of an index that names none.
const SCHEMA: &str = "kodiak";

/// How long to wait for a server.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may be silent although something was sent, and how long before
/// the system asks whether the server is still there.
const SILENCE: Duration = Duration::from_mins(1);

/// The address of an index.
#[derive(Clone, Debug)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) schema: String,
    pub(crate) protection: Protection,
    /// The address of a replica that may be read.
    pub(crate) replica: Option<Box<Self>>,
    shown: PathBuf,
}

/// How a connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// Not at all.
    None,
    /// With TLS. The certificate must be that of the host, by an authority in this file
    /// or, without one, by those that the system trusts.
    Verified(Option<PathBuf>),
}

impl Address {
    /// Reads an address. It has these options beside those of the client:
    ///
    /// * `schema`: the schema of the index, `kodiak` by default;
    /// * `sslmode`: `disable` for none, anything else for TLS with a verified certificate.
    ///   Without it, only a server on this machine is spoken to without TLS;
    /// * `sslrootcert`: the file of the authority's certificate;
    /// * `replica`: another host, or several with commas between them, which may be read: a
    ///   replica of the server. Everything else of the address holds for it as well.
    ///
    /// Refuses an address with a password.
    pub fn parse(address: &str) -> Result<Self> {
        let bad = |wanted: &str| Error::BadValue {
            name: "index",
            wanted: wanted.to_owned(),
        };
        let (base, options) = address.split_once('?').unwrap_or((address, ""));
        let mut schema = SCHEMA.to_owned();
        let (mut mode, mut authority, mut replica) = (None, None, None);
        let mut others = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "schema" => schema = value,
                "sslmode" => mode = Some(value),
                "replica" => replica = Some(value),
                "sslrootcert" => authority = Some(PathBuf::from(value)),
                _ => others.push(option),
            }
        }
        if !is_schema(&schema) {
            return Err(bad(
                "an address whose schema has lower-case letters, digits and '_' only, and is \
                 not one of the database's own, such as 'public'",
            ));
        }
        let asked = if others.is_empty() {
            base.to_owned()
        } else {
            format!("{base}?{}", others.join("&"))
        };
        let mut config = Config::from_str(&asked).map_err(|error| {
            bad(&format!(
                "an address such as postgres://user@host/database ({})",
                crate::error::with_reasons(&error)
            ))
        })?;
        if config.get_password().is_some() {
            return Err(bad(
                "an address without a password: put it into the environment variable PGPASSWORD",
            ));
        }
        if config.get_hosts().is_empty() {
            return Err(bad("an address with a host"));
        }
        // A name may stand for any machine if its address is given beside it.
        let addresses = config.get_hostaddrs();
        let is_near = config.get_hosts().iter().all(is_on_this_machine)
            && addresses.iter().all(IpAddr::is_loopback);
        let names_a_role = |option: &&str| option.starts_with("target_session_attrs=");
        if config.get_hosts().len() > 1 && !others.iter().any(names_a_role) {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let protection = match mode.as_deref() {
            Some("disable") => Protection::None,
            None if is_near && authority.is_none() => Protection::None,
            _ => Protection::Verified(authority),
        };
        config
            .ssl_mode(match protection {
                Protection::None => tokio_postgres::config::SslMode::Disable,
                Protection::Verified(_) => tokio_postgres::config::SslMode::Require,
            })
            .application_name("kodiak")
            .connect_timeout(PATIENCE)
            .tcp_user_timeout(SILENCE)
            .keepalives_idle(SILENCE);
        let replica = match replica {
            Some(hosts) => Some(Box::new(
                Self::parse(&with_hosts(address, &hosts)).map_err(|_| {
                    bad("an address whose replica is a host such as db2.example:5432")
                })?,
            )),
            None => None,
        };
        Ok(Self {
            replica,
            shown: PathBuf::from(format!("{base}#{schema}")),
            config,
            schema,
            protection,
        })
    }

    /// Sets the password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        self.config.password(password);
        self.replica = self
            .replica
            .map(|replica| Box::new(replica.with_password(password)));
        self
    }

    /// Names another schema of the same database, such as one for a test.
    #[must_use]
    pub fn with_schema(mut self, schema: &str) -> Self {
        let shown = self.shown.to_string_lossy();
        let base = shown.split('#').next().unwrap_or_default();
        self.shown = PathBuf::from(format!("{base}#{schema}"));
        schema.clone_into(&mut self.schema);
        self.replica = self
            .replica
            .map(|replica| Box::new(replica.with_schema(schema)));
        self
    }

    /// Returns the address as messages show it.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns what makes TLS connections.
    pub(crate) fn tls(&self, authority: Option<&Path>) -> Result<MakeRustlsConnect> {
        let refused = |detail: String| {
            crate::error::refused(&self.shown, kodiak_base::error::Cause::Unreachable, detail)
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| refused(error.to_string()))?;
        let config = match authority {
            None => builder
                .with_platform_verifier()
                .map_err(|error| refused(error.to_string()))?
                .with_no_client_auth(),
            Some(path) => {
                let unusable = |detail: String| {
                    refused(format!(
                        "the certificate {} cannot be used: {detail}",
                        path.display()
                    ))
                };
                let mut roots = rustls::RootCertStore::empty();
                let found = CertificateDer::pem_file_iter(path)
                    .map_err(|error| unusable(error.to_string()))?;
                for certificate in found {
                    let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                    roots
                        .add(certificate)
                        .map_err(|error| unusable(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(unusable("it has no certificate".to_owned()));
                }
                builder.with_root_certificates(roots).with_no_client_auth()
            }
        };
        Ok(MakeRustlsConnect::new(config))
    }
}

/// Returns the address of a server with other hosts, which need not take writes.
fn with_hosts(address: &str, hosts: &str) -> String {
    let (base, options) = address.split_once('?').unwrap_or((address, ""));
    let (scheme, rest) = base.split_once("://").unwrap_or(("postgres", base));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let only_here = [
        "replica",
        "host",
        "hostaddr",
        "port",
        "target_session_attrs",
    ];
    let kept = options.split('&').filter(|option| {
        let name = option.split_once('=').map_or(*option, |(name, _)| name);
        !only_here.contains(&name)
    });
    let kept: Vec<&str> = kept.collect();
    let options = kept.join("&");
    format!(
        "{scheme}://{user}{hosts}/{path}?{options}&target_session_attrs=any&load_balance_hosts=random"
    )
}

/// Reports whether an index at this place would be on a server.
pub fn is_address(place: &str) -> bool {
    place.starts_with("postgres://") || place.starts_with("postgresql://")
}

fn is_on_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .trim_matches(['[', ']'])
                    .parse::<IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// Returns a name as statements have it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Reports whether an index may be in a schema of this name. Those that are refused have what
/// is not the index's, or mean something else.
fn is_schema(name: &str) -> bool {
    is_plain_name(name) && !["public", "information_schema", "default"].contains(&name)
}

/// Reports whether a name needs no quotes.
fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(plain)
        && !name.as_bytes()[0].is_ascii_digit()
        && !name.starts_with("pg_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_shown() {
        let address = Address::parse("postgres://ada@db.example:5433/notes").unwrap();
        assert_eq!(
            address.shown(),
            Path::new("postgres://ada@db.example:5433/notes#kodiak")
        );
        assert_eq!(address.protection, Protection::Verified(None));
        assert_eq!(address.config.get_dbname(), Some("notes"));
        let near = Address::parse("postgres://ada@127.0.0.1/notes?schema=team&sslmode=disable");
        let near = near.unwrap();
        assert_eq!(
            (near.schema.as_str(), near.protection),
            ("team", Protection::None)
        );
        let far = Address::parse("postgresql://ada@[2001:db8::1]/n?sslmode=require").unwrap();
        assert_eq!(far.protection, Protection::Verified(None));
        let own =
            "postgres://ada@localhost/n?sslrootcert=%2Fca.pem&target_session_attrs=read-write";
        let own = Address::parse(own).unwrap();
        assert_eq!(own.protection, Protection::Verified(Some("/ca.pem".into())));
    }

    #[test]
    fn a_replica_differs_by_its_host_alone() {
        let address = Address::parse(
            "postgres://ada@db1.example,db2.example/notes?target_session_attrs=read-write\
             &schema=team&replica=db3.example:5433,db4.example&sslrootcert=/ca.pem",
        );
        let address = address
            .unwrap()
            .with_password("secret")
            .with_schema("other");
        let replica = address.replica.unwrap();
        let names = |config: &Config| -> Vec<String> {
            let hosts = config.get_hosts().iter();
            hosts.map(|host| format!("{host:?}")).collect()
        };
        assert_eq!(names(&address.config).len(), 2);
        let expected = [r#"Tcp("db3.example")"#, r#"Tcp("db4.example")"#];
        assert_eq!(names(&replica.config), expected);
        assert_eq!(replica.config.get_ports(), [5433, 5432]);
        assert_eq!(replica.config.get_user(), Some("ada"));
        assert_eq!(replica.config.get_password(), Some(&b"secret"[..]));
        assert_eq!(
            (replica.schema.as_str(), &replica.protection),
            ("other", &address.protection)
        );
        let any = tokio_postgres::config::TargetSessionAttrs::Any;
        assert_eq!(replica.config.get_target_session_attrs(), any);
        assert!(replica.replica.is_none());
        let none = Address::parse("postgres://ada@db.example/notes").unwrap();
        assert!(none.replica.is_none());
    }

    #[test]
    fn a_name_of_this_machine_with_the_address_of_another_is_not_near() {
        let of = |options: &str| {
            let address = format!("postgres://ada@localhost/n?{options}");
            Address::parse(&address).unwrap().protection
        };
        assert_eq!(of("hostaddr=192.0.2.1"), Protection::Verified(None));
        assert_eq!(of("hostaddr=127.0.0.1"), Protection::None);
        assert_eq!(of("hostaddr=192.0.2.1&sslmode=disable"), Protection::None);
    }

    #[test]
    fn of_several_hosts_the_one_that_takes_writes_is_meant() {
        let of = |address: &str| {
            let address = Address::parse(address).unwrap();
            address.config.get_target_session_attrs()
        };
        let several = "postgres://ada@db1.example,db2.example/n";
        assert_eq!(of(several), TargetSessionAttrs::ReadWrite);
        let any = format!("{several}?target_session_attrs=any");
        assert_eq!(of(&any), TargetSessionAttrs::Any);
        assert_eq!(of("postgres://ada@db1.example/n"), TargetSessionAttrs::Any);
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_the_next_step() {
        for (address, said) in [
            ("postgres://ada:secret@db.example/notes", "PGPASSWORD"),
            (
                "postgres://ada@db.example/notes?password=secret",
                "PGPASSWORD",
            ),
            ("postgres://ada@db.example/notes?schema=A-b", "schema"),
            ("postgres://ada@db.example/notes?schema=pg_x", "schema"),
            ("postgres://ada@db.example/notes?schema=public", "schema"),
            ("postgres://ada@db.example/notes?schema=default", "schema"),
            (
                "postgres://ada@db.example/notes?schema=information_schema",
                "schema",
            ),
            ("postgres:///notes", "host"),
            ("postgres://ada@db.example/notes?replica=", "replica"),
            ("postgres://ada@db.example/notes?replica=db:port", "replica"),
            ("postgres://ada@db.example/notes?speed=high", "speed"),
            ("/notes/index.db", "address"),
        ] {
            let refused = Address::parse(address).unwrap_err().to_string();
            assert!(refused.contains(said), "{address}: {refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
