//! Tests of the markdown scanner: which line is the title, which `#` is a tag.

use super::*;
use crate::document::Markup;

fn scanned(body: &str) -> (Option<String>, String) {
    let mut tags = Tags::default();
    let (title, _) = super::super::read(Markup::Markdown, body, &mut tags);
    (title, tags.into_list().join("|"))
}

#[test]
fn titles() {
    for (body, expected) in [
        ("# One", Some("One")),
        ("\n\n# One\n# Two", Some("One")),
        ("# One\r\ntext\r\n", Some("One")),
        ("#\tOne ##", Some("One")),
        ("   # One", Some("One")),
        ("## Two\n# One", Some("One")),
        ("## Two", None),
        ("#One", None),
        ("#\n# One", Some("One")),
        ("# ![](a.png)\n# One", Some("One")),
        ("####### Seven", None),
        ("# C#", Some("C#")),
        ("One\n===", Some("One")),
        ("One\r\n=\r\n", Some("One")),
        ("One\nmore\n===", Some("One more")),
        ("Two\n---\n\nOne\n===", Some("One")),
        ("===", None),
        ("\n===", None),
        ("Two\n\n===", None),
        ("- item\n===", None),
        ("> quote\n===", None),
        ("text\n> ===", None),
        ("***\n===", None),
        ("text\n# One", Some("One")),
        ("- item\n# One", Some("One")),
        ("- item\n\n# One", Some("One")),
        ("- # in a list\n\n# One", Some("One")),
        ("- item\n\n  # in a list", None),
        ("> # quoted", None),
        ("```\n# code\n```\n# One", Some("One")),
        ("~~~ sh\n# code\n```\n# code\n~~~\n# One", Some("One")),
        ("````\n```\n# code\n````\n# One", Some("One")),
        ("```\n# unclosed", None),
        ("``` inline ``` text\n# One", Some("One")),
        ("- ```\n  # code\n  ```\n# One", Some("One")),
        ("> ```\n> # code\n\n# One", Some("One")),
        ("    # code\n# One", Some("One")),
        ("\t# code\n# One", Some("One")),
        ("text\n    # still text\n# One", Some("One")),
        ("<!--\n# hidden\n-->\n# One", Some("One")),
        ("<!-- # hidden -->\n# One", Some("One")),
        ("<STYLE>\n# hidden\n</Style>\n# One", Some("One")),
        ("<prefix>\n# One", Some("One")),
    ] {
        assert_eq!(scanned(body).0.as_deref(), expected, "{body:?}");
    }
}

#[test]
fn tags_in_text_and_not_in_code() {
    for (body, expected) in [
        ("#one\n\ntext #two\n", "one|two"),
        ("# Title #one\n## Lower #two ##\n", "one|two"),
        ("# #one\n", "one"),
        ("Title {#anchor}\n=====\n", "anchor"),
        ("## Title {#anchor}\n", ""),
        ("```\n#code\n```\n#one", "one"),
        ("```sh #code\n```", ""),
        ("~~~\n#code\n~~~~\n#one", "one"),
        ("`#code` #one", "one"),
        ("    #code\n\n#one", "one"),
        ("text\n\n    #code\n    #code\n\n#one", "one"),
        ("text\n    #one", "one"),
        ("## Title\n    #code", ""),
        ("- item #one\n\n    text #two\n\n      #code\n", "one|two"),
        ("- item\n  - deeper\n\n    #one\n\ntext\n\n    #code", "one"),
        ("1. item\n\n   #one\n\n       #code", "one"),
        ("- [ ] task #one", "one"),
        ("* #one\n+ #two\n10) #three", "one|two|three"),
        ("- ```\n  #code\n  ```\n- #one", "one"),
        ("> #one\n> ```\n> #code\n> ```\n> #two", "one|two"),
        ("> ```\n> #code\n#one", "one"),
        ("> > ```\n> > #code\n> #one", "one"),
        ("```\n> #code\n```", ""),
        ("<!-- #no\n#no -->\n#one", "one"),
        ("<style>\n#no { }\n</style>\n#one", "one"),
        ("<table>\n      <pre>\n#no\n</pre\n      >\n#one", "one"),
        ("text\n     ``` #one", "one"),
        ("| #one | two |", "one"),
        ("---\n#one\n***\n#two\n", "one|two"),
        ("#one\r\n#two words#\r\n", "one|two words"),
    ] {
        assert_eq!(scanned(body).1, expected, "{body:?}");
    }
}
