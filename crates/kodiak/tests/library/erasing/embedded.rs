//! What is erased while a model works on it.

use kodiak::store::Filter;
use kodiak_sessions::{Sessions, Statements};

use super::*;
use crate::embedders::Scripted;

#[test]
fn what_is_erased_while_it_is_embedded_leaves_no_vector() {
    let folder = quick_folder();
    let home = Home::new(folder.path(), What::Page);
    let (me, job) = (Guard::local(), Job::default());
    let other = home.engine();
    other.sync(&me, ToSync::All, &job).unwrap();
    let model = Scripted::before_calls(8, 1, move |number, _| {
        if number == 0 {
            // Another process erases it while the model works.
            assert_eq!(What::Page.purge(&other, &Job::default()).unwrap(), 1);
        }
        Ok(())
    });
    let engine = home.engine_with(model.clone());
    engine.embed(&me, None, &job).unwrap();
    assert!(model.chunks().concat().contains("quasarblau"));
    assert_eq!(home.vectors(), (1, 0));
    home.assert_gone(What::Page, &engine, "while it was embedded");
}

#[test]
fn a_statement_that_is_erased_while_it_is_embedded_leaves_no_vector() {
    let folder = quick_folder();
    let home = Home::new(folder.path(), What::Record);
    let other = home.fill(What::Record);
    let model = Scripted::before_calls(8, 1, move |number, _| {
        if number == 0 {
            assert_eq!(What::Record.purge(&other, &Job::default()).unwrap(), 1);
        }
        Ok(())
    });
    let engine = home.engine_with(model.clone());
    let (me, all) = (Guard::local(), Filter::default());
    let said = Sessions::new(&engine).statements(&me, Statements::Lessons, &all, &Job::default());
    assert_eq!(said.unwrap().len(), 1);
    assert!(model.chunks().concat().contains("quasarblau"));
    home.assert_gone(What::Record, &engine, "while a statement was embedded");
}
