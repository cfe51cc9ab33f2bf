//! Tests of casts: against Java's vectors, the rules one by one, and nested types.

mod nested;
mod values;
mod vectors;

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};

use super::*;

fn text_array(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn cast_text(values: &[&str], to: &DataType) -> Result<ArrayRef> {
    cast_array(&text_array(values), &DataType::string(), to)
}

fn as_text(array: ArrayRef, from: &DataType) -> Vec<Option<String>> {
    let cast = cast_array(&array, from, &DataType::string()).unwrap();
    let text = cast.as_any().downcast_ref::<StringArray>().unwrap();
    text.iter().map(|value| value.map(str::to_owned)).collect()
}
