//! Values that are bitmaps and sketches: unions against those of Java, and bytes that are damaged.

use proptest::prelude::*;
use tidewater_types::RowKind::Insert;

use super::*;
use crate::roaring::{Bitmap, Bitmap64};

#[test]
fn unions_of_bitmaps_and_sketches_are_those_of_java() {
    let file = crate::testing::vector("aggregate_unions.json");
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 13);
    for case in cases {
        let function = case["function"].as_str().unwrap();
        let schema = aggregation(json!("BYTES"), function, &[]);
        let versions = [
            (Insert, case["older"].clone()),
            (Insert, case["newer"].clone()),
        ];
        let ours = folded_value(&schema, &versions);
        let java = expected(&schema, case["union"].clone());
        if function != "rbm64" {
            assert_eq!(ours, java, "{case}");
            continue;
        }
        // Java's containers lie in the order in which they came: compare what is written after reading.
        let normal = |value: ModelValue| match value {
            ModelValue::Atom(Datum::Bytes(bytes)) => Bitmap64::decode(&bytes).unwrap().encode(),
            other => unreachable!("{other:?}"),
        };
        assert_eq!(normal(ours), normal(java), "{case}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Sketches with a wrong byte, or cut short, are folded or refused.
    #[test]
    fn damaged_sketches_are_folded_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(), which in 0usize..4) {
        let (function, left, right) = [
            ("hll_sketch", "0201070c030803002bf2fb06862ff90d75816607", "0201070c030802007581660781bc5d06"),
            ("theta_sketch", "02030300001acc93030000000000803f15f97dcbbd86a105c397fc1281709d1eba40b3c1da06695d", "02030300001acc93020000000000803f40de2ee1c9db3d08ba40b3c1da06695d"),
            ("rbm32", "3a30000001000000000001001000000001000200", "3a30000001000000000001001000000002000300"),
            ("rbm64", "010200000000000000000200030000000000010004000000000000000000000000000000000004000000000000010000010000000000000001000000fe020000000102010000000100010201000000000002000000000000000000000001000000", "00"),
        ][which];
        let mut bytes = from_hex(left);
        let place = at.index(bytes.len());
        bytes[place] = byte;
        if cut {
            bytes.truncate(place);
        }
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let schema = aggregation(json!("BYTES"), function, &[]);
        for versions in [[left, hex.as_str(), right], [hex.as_str(), right, left]] {
            let versions = versions.map(|hex| (Insert, json!([1, hex])));
            match fold_key(&schema, &versions) {
                Ok(_) | Err(MergeError::BadValue { .. }) => {}
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
