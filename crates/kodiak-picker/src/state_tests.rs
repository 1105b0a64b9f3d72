use super::*;

fn item(name: &str) -> Item {
    Item {
        uri: name.to_owned(),
        ..Item::default()
    }
}

fn found(number: u64, stage: Stage, names: &[&str]) -> Event {
    Event::Found {
        number,
        stage,
        found: Ok(Results {
            items: names.iter().map(|name| item(name)).collect(),
            total: names.len(),
            ..Results::default()
        }),
    }
}

fn search(number: u64, text: &str, sources: &[&str]) -> Vec<Effect> {
    vec![Effect::Search(Query {
        number,
        text: text.to_owned(),
        sources: sources.iter().map(|&name| name.to_owned()).collect(),
    })]
}

/// Returns a state on a screen of usual size, after its first search.
fn begun() -> State {
    let mut state = State::new("", Vec::new());
    let size = Event::Resize {
        columns: 80,
        rows: 24,
    };
    assert_eq!(state.handle(size), []);
    assert_eq!(state.begin(), search(1, "", &[]));
    state
}

fn press(state: &mut State, keys: &[Key]) -> Vec<Effect> {
    let effects = keys.iter().map(|&key| state.handle(Event::Key(key)));
    effects.last().unwrap_or_default()
}

fn selected(state: &State) -> &str {
    &state.list().item().unwrap().uri
}

#[test]
fn every_change_of_the_query_is_searched_for() {
    let mut state = begun();
    assert_eq!(press(&mut state, &[Key::Char('a')]), search(2, "a", &[]));
    assert_eq!(press(&mut state, &[Key::Char('?')]), search(3, "a?", &[]));
    assert_eq!(press(&mut state, &[Key::Backspace]), search(4, "a", &[]));
    let pasted = state.handle(Event::Paste("b\nc d".to_owned()));
    assert_eq!(pasted, search(5, "ab c d", &[]));
    assert_eq!(
        press(&mut state, &[Key::Control('w')]),
        search(6, "ab c ", &[])
    );
    // What changes nothing is not searched for.
    assert_eq!(press(&mut state, &[Key::Left, Key::Control('e')]), []);
    assert_eq!(press(&mut state, &[Key::Delete]), []);
    assert_eq!(press(&mut state, &[Key::Control('u')]), search(7, "", &[]));
    assert_eq!(press(&mut state, &[Key::Control('u')]), []);
    assert_eq!(state.handle(Event::Paste("\u{1b}".to_owned())), []);
}

#[test]
fn answers_to_older_queries_are_ignored() {
    let mut state = begun();
    press(&mut state, &[Key::Char('a')]);
    assert_eq!(state.handle(found(1, Stage::Full, &["old"])), []);
    assert!(state.list().items().is_empty() && state.is_searching());
    let effects = state.handle(found(2, Stage::Words, &["new"]));
    assert_eq!(effects, [Effect::Load(item("new"))]);
    assert!(state.is_searching());
    state.handle(found(2, Stage::Full, &["new"]));
    assert!(!state.is_searching());
}

#[test]
fn nothing_reorders_after_an_arrow_key() {
    let mut state = begun();
    state.handle(found(1, Stage::Words, &["a", "b", "c"]));
    assert_eq!(press(&mut state, &[Key::Down]), [Effect::Load(item("b"))]);
    state.handle(found(1, Stage::Full, &["d", "c", "b", "a"]));
    let uris: Vec<&str> = state.list().items().iter().map(|it| &*it.uri).collect();
    assert_eq!(uris, ["a", "b", "c", "d"]);
    assert_eq!(selected(&state), "b");
    // The next query begins at its best hit.
    press(&mut state, &[Key::Char('x')]);
    state.handle(found(2, Stage::Words, &["c", "b"]));
    assert_eq!(selected(&state), "c");
    state.handle(found(2, Stage::Full, &["b", "c"]));
    assert_eq!(selected(&state), "b");
}

#[test]
fn the_selection_moves_and_stays_within_the_list() {
    let mut state = begun();
    let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    state.handle(found(1, Stage::Words, &names));
    let rows = usize::from(state.layout().list.height);
    for (key, expected) in [
        (Key::Up, 0),
        (Key::Down, 1),
        (Key::Control('n'), 2),
        (Key::Control('p'), 1),
        (Key::PageDown, rows),
        (Key::PageUp, 1),
        (Key::End, 49),
        (Key::Down, 49),
        (Key::PageDown, 49),
        (Key::Home, 0),
        (Key::PageUp, 0),
    ] {
        press(&mut state, &[key]);
        let list = state.list();
        assert_eq!(list.selected(), expected, "{key:?}");
        let visible = list.top()..list.top() + rows;
        assert!(visible.contains(&list.selected()), "{key:?}");
    }
}

#[test]
fn the_text_is_read_once_and_shown_for_its_item_alone() {
    let mut state = begun();
    state.handle(found(1, Stage::Words, &["a", "b"]));
    assert!(state.note().is_none());
    let note = |uri: &str| Note::new(&item(uri), "text");
    // One that was asked for before is late.
    state.handle(Event::Loaded(note("b")));
    assert!(state.note().is_none());
    state.handle(Event::Loaded(note("a")));
    assert_eq!(state.note().unwrap().uri, "a");
    assert_eq!(state.handle(found(1, Stage::Full, &["a", "c"])), []);
    assert_eq!(press(&mut state, &[Key::Down]), [Effect::Load(item("c"))]);
    assert!(state.note().is_none());
    press(&mut state, &[Key::Char('x')]);
    assert_eq!(state.handle(found(2, Stage::Words, &[])), []);
    assert!(state.note().is_none());
}

#[test]
fn tab_goes_through_the_sources() {
    let mut state = begun();
    press(&mut state, &[Key::Tab]);
    assert_eq!(state.message(), Some("there is no other source"));
    state.handle(Event::Sources(vec!["notes".into()]));
    assert_eq!(press(&mut state, &[Key::Tab]), []);
    assert_eq!(state.message(), Some("notes is the only source"));
    state.handle(Event::Sources(vec!["notes".into(), "work".into()]));
    assert_eq!(press(&mut state, &[Key::Tab]), search(2, "", &["notes"]));
    assert_eq!(state.source(), Some("notes"));
    assert_eq!(press(&mut state, &[Key::Tab]), search(3, "", &["work"]));
    assert_eq!(press(&mut state, &[Key::Tab]), search(4, "", &[]));
    assert_eq!(press(&mut state, &[Key::BackTab]), search(5, "", &["work"]));
    assert_eq!(
        press(&mut state, &[Key::Char('a')]),
        search(6, "a", &["work"])
    );
    assert_eq!(state.message(), None);
}

#[test]
fn tab_stays_within_the_sources_that_were_asked_for() {
    let mut state = State::new("q", vec!["one".into(), "two".into()]);
    assert_eq!(state.begin(), search(1, "q", &["one", "two"]));
    state.handle(Event::Sources(vec![
        "one".into(),
        "two".into(),
        "three".into(),
    ]));
    assert_eq!(press(&mut state, &[Key::BackTab]), search(2, "q", &["two"]));
    assert_eq!(
        press(&mut state, &[Key::Tab]),
        search(3, "q", &["one", "two"])
    );
}

#[test]
fn enter_chooses_what_was_typed_and_not_what_was_shown_before() {
    let mut state = begun();
    assert_eq!(press(&mut state, &[Key::Enter]), []);
    let chosen = |name| vec![Effect::Choose(item(name))];
    assert_eq!(
        state.handle(found(1, Stage::Words, &["a", "b"])),
        chosen("a")
    );
    assert_eq!(press(&mut state, &[Key::Down, Key::Enter]), chosen("b"));
    assert_eq!(press(&mut state, &[Key::Char('x'), Key::Enter]), []);
    assert_eq!(state.handle(found(2, Stage::Words, &["c"])), chosen("c"));
    // Another key takes it back.
    assert_eq!(
        press(&mut state, &[Key::Char('y'), Key::Enter, Key::Left]),
        []
    );
    let effects = state.handle(found(3, Stage::Words, &["d"]));
    assert_eq!(effects, [Effect::Load(item("d"))]);
    // There is nothing to choose.
    assert_eq!(press(&mut state, &[Key::Char('z'), Key::Enter]), []);
    assert_eq!(state.handle(found(4, Stage::Words, &[])), []);
    assert_eq!(press(&mut state, &[Key::Enter]), []);
}

#[test]
fn leaving_copying_and_opening_folders() {
    let mut state = begun();
    assert_eq!(press(&mut state, &[Key::Control('y')]), []);
    assert_eq!(press(&mut state, &[Key::Control('o')]), []);
    state.handle(found(1, Stage::Words, &["a"]));
    assert_eq!(
        press(&mut state, &[Key::Control('y')]),
        [Effect::Copy(item("a"))]
    );
    state.handle(Event::Done("copied".to_owned()));
    assert_eq!(state.message(), Some("copied"));
    let folder = press(&mut state, &[Key::Control('o')]);
    assert_eq!(
        (folder, state.message()),
        (vec![Effect::OpenFolder(item("a"))], None)
    );
    let leave = |interrupted| vec![Effect::Leave { interrupted }];
    assert_eq!(press(&mut state, &[Key::Escape]), leave(false));
    assert_eq!(press(&mut state, &[Key::Control('c')]), leave(true));
    assert_eq!(press(&mut state, &[Key::Control('d')]), leave(false));
    // With a query, it deletes.
    let deleted = press(
        &mut state,
        &[Key::Char('a'), Key::Control('a'), Key::Control('d')],
    );
    assert_eq!(deleted, search(3, "", &[]));
    assert_eq!(press(&mut state, &[Key::Control('z')]), []);
}

#[test]
fn help_is_shown_until_the_next_key() {
    let mut state = begun();
    for key in [Key::Char('?'), Key::Function(1)] {
        press(&mut state, &[key]);
        assert!(state.is_help_shown());
        assert_eq!(press(&mut state, &[Key::Escape]), []);
        assert!(!state.is_help_shown());
    }
    let left = press(&mut state, &[Key::Function(1), Key::Control('c')]);
    assert_eq!(left, [Effect::Leave { interrupted: true }]);
    press(&mut state, &[Key::Char('a'), Key::Char('?')]);
    assert!(!state.is_help_shown());
    assert_eq!(state.line().text(), "a?");
}

#[test]
fn the_note_can_be_hidden() {
    let mut state = begun();
    let rows = state.layout().list.height;
    press(&mut state, &[Key::Function(2)]);
    assert!(state.layout().note.is_empty() && state.layout().list.height > rows);
    press(&mut state, &[Key::Function(2)]);
    assert_eq!(state.layout().list.height, rows);
}
