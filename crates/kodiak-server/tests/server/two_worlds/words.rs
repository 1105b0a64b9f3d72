//! The words that the notes of both worlds are made of.

pub(super) const INSIDE: [&str; 24] = [
    "bread", "rising", "kettle", "harbour", "compiler", "orchard", "lantern", "violin", "walnut",
    "garden", "bicycle", "pepper", "window", "river", "letter", "market", "planet", "summer",
    "winter", "engine", "copper", "silver", "meadow", "anchor",
];

pub(super) const OUTSIDE: [&str; 24] = [
    "breads",
    "risen",
    "kettles",
    "harbinger",
    "compiling",
    "orchid",
    "lanterns",
    "violence",
    "walrus",
    "gardener",
    "bicycles",
    "peppery",
    "widow",
    "rivet",
    "latter",
    "marker",
    "planer",
    "simmer",
    "winner",
    "engines",
    "coppice",
    "sliver",
    "shadow",
    "quokka",
];

pub(super) const TAGS: [&str; 4] = ["food", "travel/sea", "work", "home"];
