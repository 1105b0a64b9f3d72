//! `kodiak links`: what a note links to, what links to it, broken links and mentions.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::Desk;

/// Notes that link to each other in every way.
fn linked() -> Desk {
    let desk = Desk::new();
    // However busy the machine is, all changes are looked for.
    desk.configure("refresh_ms", 60_000);
    for (name, text) in [
        (
            "notes/broth.md",
            "---\naliases: [Master stock, 出汁]\n---\n# Ramen broth\n\n\
             Begin with [the stock](base/dashi.md#soaking) and [[Noodles|fresh noodles]].\n\n\
             Not [this](https://example.org/a.md), [[#Boiling]] or [mail](mailto:a@b.example).\n\n\
             See [[Chashu]], [a plan](base/none.md), [a table](pots.csv), [gone](gone.csv),\n\
             [[pots.csv]], [ignored](.hidden/x.md), [out](../../etc/passwd) and [[Plan]].\n",
        ),
        ("notes/pots.csv", "pot,litres\n"),
        ("notes/.hidden/x.md", "Hidden.\n"),
        ("notes/base/dashi.md", "# Dashi\n\nFor [[ramen BROTH]].\n"),
        (
            "notes/noodles.org",
            "#+title: Noodles\n\nInto [[file:broth.md][the soup]] and [[id:1][x]].\n",
        ),
        ("notes/menu.md", "# Menu\n\n[[master stock]], then tea.\n"),
        (
            "notes/a/plan.md",
            "# Monday\n\nBuy bones for the ramen broth.\n",
        ),
        (
            "notes/b/plan.md",
            "# Tuesday\n\nThe Master  Stock\nagain.\n",
        ),
        ("notes/forms.md", "# Forms\n\nRamens and broths.\n"),
    ] {
        desk.write(name, text);
    }
    desk.ok(&["add", "notes"]);
    desk
}

#[test]
fn what_a_note_links_to_and_what_links_to_it() {
    let desk = linked();
    assert_snapshot!(desk.run(&["links", "Ramen broth"]), @r#"
    exit: 0
    --- stdout
    links to 2 notes
      Dashi  notes/base/dashi.md  38759c  "the stock"
      Noodles  notes/noodles.org  fa36cb  "fresh noodles"
    linked from 3 notes
      Dashi  notes/base/dashi.md  38759c  "ramen BROTH"
      Menu  notes/menu.md  b436ea  "master stock"
      Noodles  notes/noodles.org  fa36cb  "the soup"
    5 broken links
      Chashu
      base/none.md  "a plan"
      gone.csv  "gone"
      ../../etc/passwd  "out"
      Plan  (several notes have this name)
    mentioned without a link in 2 notes
      Monday  notes/a/plan.md:3  0f85c3
      Tuesday  notes/b/plan.md:3  d80656
    "#);
    assert_snapshot!(desk.run(&["links", "menu"]), @r#"
    exit: 0
    --- stdout
    links to 1 note
      Ramen broth  notes/broth.md  ccd90f  "master stock"
    no note links here
    "#);
    assert_snapshot!(desk.run(&["links", "forms", "-n", "1"]), @"
    exit: 0
    --- stdout
    links to no other note
    no note links here
    ");
    assert_snapshot!(desk.run(&["links", "nothing like it"]), @"
    exit: 2
    --- stderr
    error: there is no note 'nothing like it'
    hint: run `kodiak search` to find notes and their ids
    ");
}

fn titles(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one["title"].as_str().unwrap()).collect()
}

#[test]
fn links_as_json_are_bounded() {
    let desk = linked();
    let links = desk.json(&["links", "notes/broth.md", "--json"]);
    assert_eq!(links["note"]["path"], "broth.md");
    assert_eq!(titles(&links["links"]), ["Dashi", "Noodles"]);
    assert_eq!(links["links"][1]["texts"], json!(["fresh noodles"]));
    assert_eq!(titles(&links["backlinks"]), ["Dashi", "Menu", "Noodles"]);
    assert_eq!(links["backlinks"][2]["texts"], json!(["the soup"]));
    let broken: Vec<&str> = links["broken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["target"].as_str().unwrap())
        .collect();
    assert_eq!(
        broken,
        [
            "Chashu",
            "base/none.md",
            "gone.csv",
            "../../etc/passwd",
            "Plan"
        ]
    );
    assert_eq!(links["broken"][4]["ambiguous"], true);
    assert_eq!(titles(&links["mentions"]), ["Monday", "Tuesday"]);
    assert_eq!(links["mentions"][1]["name"], "Master stock");
    assert_eq!(links.get("left_out"), None);

    let links = desk.json(&["links", "notes/broth.md", "--json", "-n", "1"]);
    for list in ["links", "backlinks", "broken", "mentions"] {
        assert_eq!(links[list].as_array().unwrap().len(), 1, "{list}");
    }
    let left_out = json!({"links": 1, "backlinks": 2, "broken": 4, "mentions": 1});
    assert_eq!(links["left_out"], left_out);
}

#[test]
fn a_link_that_was_just_written_is_found() {
    let desk = linked();
    desk.write("notes/new.md", "# New\n\n[[Menu]]\n");
    desk.write("notes/menu.md", "# Menu\n\nNothing more.\n");
    let links = desk.json(&["links", "menu", "--json"]);
    assert_eq!(titles(&links["backlinks"]), ["New"]);
    assert_eq!(links["links"], json!([]));
}
