//! Indents JSON for people to read.

/// Returns JSON that has no white space between its values with a line for each value,
/// indented by two spaces for each list or object around it.
pub(super) fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if in_string {
            text.push(character);
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '{' | '[' => {
                text.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(end);
                } else {
                    depth += 1;
                    break_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                break_line(&mut text, depth);
                text.push(character);
            }
            ',' => {
                text.push(character);
                break_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            _ => {
                in_string = character == '"';
                text.push(character);
            }
        }
    }
    text
}

fn break_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            r#"[\\"\[\]{},: \n\u{1}aé🐻]{0,8}"#.prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(r#"[\\"\]},:a]{0,4}"#, inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn lists_and_objects_that_are_empty_stay_on_a_line() {
        let value = json!({"hits": [], "query": {"filter": {}}});
        let expected = "{\n  \"hits\": [],\n  \"query\": {\n    \"filter\": {}\n  }\n}";
        assert_eq!(indented(&value.to_string()), expected);
    }

    proptest! {
        #[test]
        fn values_are_indented_as_serde_json_does(value in values()) {
            let expected = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(indented(&value.to_string()), expected);
        }
    }
}
