//! Laws of schema files.

use proptest::prelude::*;
use tidewater_types::{DataField, DataType, RowType};

use super::*;

fn arbitrary_type() -> impl Strategy<Value = DataType> {
    let atomic = prop_oneof![
        Just(DataType::int()),
        Just(DataType::big_int().not_null()),
        Just(DataType::string()),
        Just(DataType::decimal(20, 3)),
        Just(DataType::timestamp(9)),
        Just(DataType::timestamp_ltz(3).not_null()),
        Just(DataType::bytes()),
    ];
    atomic.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(DataType::array),
            (inner.clone(), inner.clone())
                .prop_map(|(key, value)| DataType::map(key, value).not_null()),
            inner.clone().prop_map(DataType::multiset),
            prop::collection::vec(inner, 1..4).prop_map(|types| {
                let members = types.into_iter().enumerate();
                DataType::row(RowType::of(
                    members.map(|(index, data_type)| (format!("m{index}"), data_type)),
                ))
            }),
        ]
    })
}

prop_compose! {
    fn arbitrary_definition()(
        columns in prop::collection::vec((arbitrary_type(), prop::option::of(".{0,8}")), 1..6),
        options in prop::collection::btree_map("my\\.[a-z]{1,5}", ".{0,8}", 0..4),
        comment in prop::option::of(".{0,8}"),
        keyed in any::<bool>(),
    ) -> SchemaDefinition {
        let mut fields = vec![DataField::new(0, "k", DataType::int())];
        for (index, (data_type, description)) in columns.into_iter().enumerate() {
            let mut field = DataField::new(0, format!("c{index}"), data_type);
            field.description = description;
            fields.push(field);
        }
        SchemaDefinition {
            fields,
            primary_keys: if keyed { vec!["k".to_owned()] } else { vec![] },
            partition_keys: vec![],
            options,
            comment,
        }
    }
}

/// All field ids, in reading order.
fn ids(schema: &TableSchema) -> Vec<i32> {
    fn collect(json: &serde_json::Value, ids: &mut Vec<i32>) {
        match json {
            serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, ids)),
            serde_json::Value::Object(members) => {
                if members.contains_key("name") {
                    ids.push(i32::try_from(members["id"].as_i64().unwrap()).unwrap());
                }
                members.values().for_each(|value| collect(value, ids));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&schema.to_json_value()["fields"], &mut found);
    found
}

const SAMPLE: &str = r#"{"version":3,"id":0,"fields":[{"id":0,"name":"pt","type":"STRING NOT NULL"},{"id":1,"name":"k","type":"INT NOT NULL","description":"d","defaultValue":"1"},{"id":2,"name":"c","type":{"type":"ROW","fields":[{"id":3,"name":"x","type":"DECIMAL(5, 2)"}]}},{"id":4,"name":"m","type":{"type":"MAP NOT NULL","key":"STRING","value":{"type":"ARRAY","element":"TIMESTAMP(3) WITH LOCAL TIME ZONE"}}}],"highestFieldId":4,"partitionKeys":["pt"],"primaryKeys":["pt","k"],"options":{"bucket":"2"},"comment":"t","timeMillis":1}"#;

proptest! {
    /// A created schema comes back equal from its file, its ids are 0 to the highest, each once, and the file is stable.
    #[test]
    fn created_schemas_survive_their_files(definition in arbitrary_definition()) {
        let schema = TableSchema::create(definition, 42).unwrap();
        let bytes = schema.to_json();
        let again = TableSchema::from_json(&bytes).unwrap();
        prop_assert_eq!(again.to_json(), bytes);
        prop_assert_eq!(&again.fields, &schema.fields);
        prop_assert_eq!(&again.options, &schema.options);
        let mut found = ids(&schema);
        found.sort_unstable();
        let expected: Vec<_> = (0..=schema.highest_field_id).collect();
        prop_assert_eq!(found, expected);
    }

    /// However columns come and go, an id names one column for ever and the highest id never falls.
    #[test]
    fn ids_are_never_given_twice(steps in prop::collection::vec((any::<bool>(), arbitrary_type(), 0_usize..5), 1..8)) {
        let mut schema = append(&[]).unwrap();
        let mut seen = ids(&schema);
        for (add, data_type, place) in steps {
            let change = if add {
                SchemaChange::AddColumn {
                    path: vec![format!("c{}", schema.id)],
                    data_type: data_type.with_nullable(true),
                    description: None,
                    position: None,
                }
            } else {
                let place = place.min(schema.fields.len() - 1);
                SchemaChange::DropColumn { path: vec![schema.fields[place].name.clone()] }
            };
            let before = ids(&schema);
            let Ok(next) = schema.apply(&[change], true, 0) else {
                prop_assert_eq!(schema.fields.len(), 1);
                continue;
            };
            prop_assert!(next.highest_field_id >= schema.highest_field_id);
            for id in ids(&next) {
                if !before.contains(&id) {
                    prop_assert!(!seen.contains(&id), "{} again", id);
                    seen.push(id);
                }
            }
            schema = next;
        }
    }

    /// Whatever bytes a file holds, reading it answers.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = TableSchema::from_json(&bytes);
        let _ = SchemaDefinition::from_json(&bytes);
        let _ = SchemaChange::list_from_json(&bytes);
    }

    /// A damaged schema file is read or refused, and what is read can be used and comes back equal.
    #[test]
    fn damaged_files_are_read_or_refused(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..6)) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (place, byte, edit) in edits {
            let place = place.index(bytes.len().max(1));
            match edit {
                0 if place < bytes.len() => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => bytes.truncate(place),
            }
        }
        if let Ok(schema) = TableSchema::from_json(&bytes) {
            let _ = (schema.options(), schema.bucket_mode(), schema.key_value_type(false), schema.partition_type());
            let _ = schema.apply(&[SchemaChange::SetComment(None)], true, 0);
            prop_assert_eq!(TableSchema::from_json(&schema.to_json()).unwrap(), schema);
        }
        if let Ok(definition) = SchemaDefinition::from_json(&bytes) {
            let _ = TableSchema::create(definition, 0);
        }
    }

    /// A change read from damaged JSON is read or refused, and applying it answers.
    #[test]
    fn damaged_changes_are_read_or_refused(op in 0_usize..11, member in "[a-z]{1,8}", value in ".{0,6}") {
        let ops = ["set-option", "remove-option", "comment", "add-column", "drop-column", "rename-column", "change-type", "nullability", "column-comment", "default-value", "move-column"];
        let members = serde_json::json!({"op": ops[op], "column": value, "type": "INT", member: value});
        if let Ok(change) = SchemaChange::from_json_value(members) {
            let _ = keyed(&[]).unwrap().apply(&[change], true, 0);
        }
    }
}
