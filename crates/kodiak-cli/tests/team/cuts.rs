//! The connection is lost at each statement of a command: the command succeeds or says what
//! to do, and nothing is half written.

use kodiak_postgres::Address;

use crate::place::{Index, Machine, Run, on_each_server};
use crate::relay::{Act, Relay};

/// The most statements that a command is expected to send.
const MANY: usize = 400;

/// Returns a relay to the server of an index, and the address of the index behind it.
fn relay(index: &Index) -> (Relay, String) {
    let (_, rest) = index.address().split_once('@').unwrap();
    let (host, rest) = rest.split_once('/').unwrap();
    let relay = Relay::to(host);
    let address = format!("postgres://kodiak@{}:{}/{rest}", relay.host, relay.port);
    Address::parse(&address).unwrap();
    (relay, address)
}

/// Runs a command as often as it has statements, and cuts the connection at another one each
/// time: before it arrives, or after it was executed.
fn cut_at_each(relay: &Relay, step: usize, mut run: impl FnMut(usize) -> Run) {
    let mut cuts = 0;
    for at in (1..MANY).step_by(step) {
        for after in [false, true] {
            relay.at(at, if after { Act::CutAfter } else { Act::CutBefore });
            let about = run(2 * at + usize::from(after));
            let was_cut = relay.pass();
            if !was_cut {
                assert!(cuts >= 4, "only {cuts} statements were reached: {about}");
                return;
            }
            cuts += 1;
        }
    }
    panic!("there were more statements than {MANY}");
}

/// Checks that a run succeeded, or failed with what to do next.
fn assert_clear(run: &Run) {
    let codes = [Some(0), Some(1), Some(2)];
    assert!(codes.contains(&run.code), "{run}");
    if run.code == Some(2) {
        let said = ["repeat", "again", "check the address", "wait for it"];
        assert!(said.iter().any(|step| run.stderr.contains(step)), "{run}");
        assert!(!run.stderr.contains("damaged"), "{run}");
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_search_that_loses_its_connection_is_right_or_says_so() {
    on_each_server(|index| {
        let near = index.machine();
        near.ok(&["team", "init"]);
        near.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
        near.ok(&["add", "notes"]);
        near.ok(&["remember", "The kettle is green."]);
        let (relay, address) = relay(index);
        let far = Machine::with_index(&address);
        cut_at_each(&relay, 2, |_| {
            let run = far.run(&["search", "--json", "kettle"]);
            assert_clear(&run);
            if run.code != Some(2) {
                let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
                let hits = answer["hits"].as_array().unwrap().len();
                let failed = answer["notice_codes"]
                    .to_string()
                    .contains("full-text-failed");
                assert!(hits == 2 || failed, "{run}");
            }
            run
        });
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_memory_whose_connection_is_lost_is_there_once_or_not_at_all() {
    on_each_server(|index| {
        let near = index.machine();
        near.ok(&["team", "init"]);
        let (relay, address) = relay(index);
        let far = Machine::with_index(&address);
        let mut written = 0;
        cut_at_each(&relay, 5, |round| {
            let text = format!("The word is wort{round}q.");
            let run = far.run(&["remember", &text]);
            assert_clear(&run);
            // Repeated without a cut, it is there, once.
            near.ok(&["remember", &text]);
            written += 1;
            assert_eq!(near.found(&format!("\"wort{round}q\"")).len(), 1, "{run}");
            run
        });
        let listed = near.ok(&["memory", "list", "--json", "-n", "1000"]).stdout;
        assert_eq!(
            listed.matches("The word is wort").count(),
            written,
            "{listed}"
        );
        near.ok(&["doctor"]);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_migration_whose_connection_is_lost_goes_on_where_it_was() {
    on_each_server(|index| {
        let local = Machine::new();
        for name in ["tea", "bread", "salt"] {
            local.write(
                &format!("notes/{name}.md"),
                &format!("# {name}\n\nAbout {name}.\n"),
            );
        }
        local.ok(&["add", "notes", "--yes"]);
        local.ok(&["remember", "The oven is too hot.", "--id", "oven"]);
        let (relay, address) = relay(index);
        cut_at_each(&relay, 13, |_| {
            let run = local.run(&["migrate", "--to", &address]);
            assert_clear(&run);
            run
        });
        let run = local.ok(&["migrate", "--to", index.address(), "--json"]);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["complete"], true, "{report}");
        let far = index.machine();
        assert_eq!(far.found("oven").len(), 1);
        assert_eq!(far.found("about").len(), 3);
        far.ok(&["index"]);
        far.ok(&["doctor"]);
    });
}
