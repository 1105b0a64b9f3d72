//! The same over indexes on servers.

use std::sync::atomic::{AtomicUsize, Ordering};

use kodiak::search::Mode;
use kodiak_postgres::Address;

use super::{Asked, compare_on, of_both, of_project, of_source};

/// Returns an address on a server that the tests are given, for a schema of its own.
fn on_a_server() -> Address {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let all = std::env::var("KODIAK_TEST_POSTGRES").unwrap_or_default();
    let servers: Vec<&str> = all.split_whitespace().collect();
    assert!(!servers.is_empty(), "KODIAK_TEST_POSTGRES names no server");
    // Each takes minutes, and all servers together have one.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let address = Address::parse(servers[number % servers.len()]).unwrap();
    address.with_schema(&format!("worlds_{}_{number}", std::process::id()))
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn words_are_counted_inside_on_a_server() {
    let modes = [Mode::Auto, Mode::Lexical, Mode::Like];
    for guard in [of_source, of_project] {
        let address = on_a_server();
        compare_on(Some(&address), false, |asked| asked.searches(&modes), guard);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn meanings_and_names_stay_inside_on_a_server() {
    for guard in [of_source, of_project] {
        let address = on_a_server();
        compare_on(
            Some(&address),
            true,
            |asked| asked.searches(&[Mode::Hybrid]),
            guard,
        );
    }
    for guard in [of_source, of_project, of_both] {
        let address = on_a_server();
        compare_on(Some(&address), true, Asked::names, guard);
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn tools_and_routes_answer_alike_on_a_server() {
    for guard in [of_source, of_project, of_both] {
        let address = on_a_server();
        compare_on(Some(&address), false, Asked::tools, guard);
        compare_on(Some(&address), false, Asked::routes, guard);
        compare_on(Some(&address), false, Asked::changes, guard);
    }
}
