//! Answers as they look on terminals of different widths.

use insta::assert_snapshot;

use crate::desk::{Desk, Run};

fn at(desk: &Desk, columns: usize, arguments: &[&str]) -> Run {
    let mut command = desk.command(&["search", "-n", "2"]);
    command.args(arguments).env("COLUMNS", columns.to_string());
    desk.finish(&mut command)
}

#[test]
fn narrow_and_wide() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["productivity", "systems"]), @"
    exit: 0
    --- stdout
    1. Productivity reading list
       notes/productivity/reading-list.md:16  090058  [books, productivity, toread]
       [ ] An essay on personal productivity systems at example.org · Rule for
       myself: no new book about productivity until two novels are read in between.

    less likely:

    2. Rust ownership notes
       notes/programming/rust-ownership.md:33  76f384  [rust, programming, memory]
       No garbage collector, no dangling pointer, and the compiler nags so that
       production does not. #rust
    ");
    assert_snapshot!(at(&desk, 120, &["productivity", "systems"]), @"
    exit: 0
    --- stdout
    1. Productivity reading list
       notes/productivity/reading-list.md:16  090058  [books, productivity, toread]
       [ ] An essay on personal productivity systems at example.org · Rule for myself: no new book about
       productivity until two novels are read in between.

    less likely:

    2. Rust ownership notes
       notes/programming/rust-ownership.md:33  76f384  [rust, programming, memory]
       No garbage collector, no dangling pointer, and the compiler nags so that production does not. #rust
    ");
    assert_snapshot!(at(&desk, 80, &["two-minute", "rule"]), @r#"
    exit: 0
    --- stdout
    1. Productivity reading list
       notes/productivity/reading-list.md:11  090058  [books, productivity, toread]
       [x] Getting Things Done, David Allen. Dry, but the two-minute rule alone paid
       for it. Notes in GTD methodology. [x] Deep Work, Cal Newport. First half
       convinces, second half is mostly anecdotes.

    2. GTD methodology
       notes/productivity/gtd.md:19  cfc0e8  [gtd, habits, planning]
       Rules of thumb: Two minutes or less? Do it now instead of writing it down. A
       next action starts with a verb and is physical: "phone the dentist", not
       "teeth".
    --- stderr
    2 of 19 notes
    "#);
    assert_snapshot!(at(&desk, 120, &["two-minute", "rule"]), @r#"
    exit: 0
    --- stdout
    1. Productivity reading list
       notes/productivity/reading-list.md:11  090058  [books, productivity, toread]
       [x] Getting Things Done, David Allen. Dry, but the two-minute rule alone paid for it. Notes in GTD
       methodology. [x] Deep Work, Cal Newport. First half convinces, second half is mostly anecdotes.

    2. GTD methodology
       notes/productivity/gtd.md:19  cfc0e8  [gtd, habits, planning]
       Rules of thumb: Two minutes or less? Do it now instead of writing it down. A next action starts with
       a verb and is physical: "phone the dentist", not "teeth".
    --- stderr
    2 of 19 notes
    "#);
}

#[test]
fn tables_lists_and_code() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["french", "press"]), @"
    exit: 0
    --- stdout
    1. Coffee brewing ratios
       notes/cooking/coffee-brewing.md:13  502307  [coffee, morning]
       French press · 30 g · 500 ml · coarse · 4 min
    ");
    assert_snapshot!(at(&desk, 80, &["synchronous", "pragma"]), @"
    exit: 0
    --- stdout
    1. SQLite WAL mode
       notes/programming/sqlite-wal.md:13  ac3d92  [sqlite, database, concurrency]
       PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout =
       5000; -- force the log back to zero bytes PRAGMA wal_checkpoint(TRUNCATE);
    ");
    assert_snapshot!(at(&desk, 120, &["borrow", "lifetime"]), @"
    exit: 0
    --- stdout
    1. Rust ownership notes
       notes/programming/rust-ownership.md:13  76f384  [rust, programming, memory]
       Many shared borrows &T, or one exclusive borrow &mut T, never both at once. A lifetime describes a
       region of code; it does not keep anything alive. fn longest<'a>(a: &'a str, b: &'a str) -> &'a str…
    ");
    assert_snapshot!(at(&desk, 80, &["blanch", "scrub"]), @"
    exit: 0
    --- stdout
    1. Ramen broth, the two-day version
       notes/cooking/ramen-broth.md:15  53c6fb  [soup, japanese, weekend]
       Bones: 1.5 kg pork trotters (split), 1 kg chicken backs. Blanch ten minutes,
       scrub off the brown scum under cold water. Skipping this makes it grey. Day
       one.
    ");
}

#[test]
fn only_the_title_or_the_tags_match() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["title:bullet"]), @"
    exit: 0
    --- stdout
    1. Bullet journal
       notes/productivity/bullet-journal.md:2  60d202  [notebook, planning, analog]
       A dotted A5 notebook, one black pen, no washi tape. Key: . to-do; x done; >
       migrated to next month; < moved to the future log; o event; - plain note ·
       Pages I keep: index, future log (six months on…
    ");
    assert_snapshot!(at(&desk, 80, &["timeboxing"]), @"
    exit: 0
    --- stdout
    1. Pomodoro technique
       notes/productivity/pomodoro.md:3  8d3b0c  [focus, timeboxing, habits]
       Work against a kitchen timer: 25 minutes on one thing, 5 minutes away from
       the desk. After four rounds take a long pause of 20 to 30 minutes.
    ");
}

#[test]
fn every_script() {
    let desk = Desk::indexed();
    assert_snapshot!(at(&desk, 80, &["麻婆豆腐"]), @"
    exit: 0
    --- stdout
    1. 成都吃什么
       notes/travel/chengdu-food.md:11  52a5f4  [旅行, 美食, 四川]
       中午：苍蝇馆子里的麻婆豆腐和回锅肉，花椒麻得舌头发抖。 下午：人民公园喝盖碗
       茶，顺便看老人打麻将、掏耳朵。 晚上：火锅要点鸳鸯锅，毛肚涮十五秒，鸭肠别煮
       老。 夜宵：冷锅串串和冰粉，辣完吃甜的最舒服。 几句有用的话：“微辣”对我来说已…
    ");
    assert_snapshot!(at(&desk, 120, &["吾輩"]), @"
    exit: 0
    --- stdout
    1. 「吾輩は猫である」を読んで
       notes/reading/wagahai-neko.md:2  ba85df  [読書, 小説, 夏目漱石]
       名前のない猫が、苦沙弥先生の家に集まる人間たちを観察して笑う話。 面白かったところ: 餅を食べて踊る場
       面。電車の中で声を出して笑ってしまった。 迷亭のほら話。嘘だとわかっていても最後まで聞きたくなる。 猫
       の目から見ると、偉い学者もただの胃弱な男になる。 難しかったところ: 漢文や古い言い回しが多く、一日に…
    ");
    assert_snapshot!(at(&desk, 80, &["अरहर"]), @"
    exit: 0
    --- stdout
    1. दाल तड़का
       notes/cooking/dal-tadka.md:13  37274a  [दाल, शाकाहारी, dinner, खाना]
       एक कप अरहर की दाल, आधा कप मसूर; हल्दी आधा चम्मच, नमक स्वाद के अनुसार; दो टमाटर, एक
       प्याज़, अदरक और लहसुन; घी दो बड़े चम्मच, जीरा, राई, सूखी लाल मिर्च, हींग चुटकी भर ·
       बनाने का तरीका: दाल को धोकर आधे…
    ");
    assert_snapshot!(at(&desk, 80, &["Kartoffeln"]), @"
    exit: 0
    --- stdout
    1. Omas Kartoffelsuppe
       notes/cooking/kartoffelsuppe.md:14  2592fb  [suppe, winter, vegetarisch]
       1 kg mehligkochende Kartoffeln; 2 Möhren, ein Stück Sellerie, eine Stange
       Lauch; 1 Zwiebel, etwas Butter; 1,2 l Gemüsebrühe; Majoran, Lorbeerblatt,
       Muskatnuss, Pfeffer; ein Schuss Sahne…
    ");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;

    let desk = Desk::indexed();
    for columns in [40, 60, 80, 120] {
        let mut command = desk.command(&["search", "*", "-n", "50"]);
        let run = desk.finish(command.env("COLUMNS", columns.to_string()));
        for line in run.stdout.lines() {
            let is_place = line.contains("notes/");
            assert!(is_place || line.width() <= columns.min(103), "{line}");
        }
        // At 80 columns there is room for the places of all these notes.
        assert!(columns < 80 || run.stdout.lines().all(|line| line.width() <= columns));
    }
}
