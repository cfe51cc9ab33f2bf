//! The writer's schema of an Avro file, parsed from its header.
//!
//! Named types are kept once, in a table, and referred to by index: a schema may name one type many times, and copying it
//! at each place could blow a small header up without bound.
//! Source: Avro specification 1.11, "Schema Declaration".

use std::collections::HashMap;

use serde_json::Value;

use super::AvroError;

/// A type of the writer's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Avro's")]
pub enum AvroType {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Array(Box<AvroType>),
    Map(Box<AvroType>),
    Union(Vec<AvroType>),
    /// Index into the named types of the [`WriterSchema`].
    Named(usize),
    /// A type with a meaning beyond its bytes; only where the reader asked for meanings.
    Logical(Box<AvroType>, LogicalType),
}

/// What the bytes of a type mean. Others than these are left aside, as the specification wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Avro's")]
pub enum LogicalType {
    Date,
    TimeMillis,
    TimeMicros,
    TimestampMillis,
    TimestampMicros,
    TimestampNanos,
    LocalTimestampMillis,
    LocalTimestampMicros,
    LocalTimestampNanos,
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// An array of records of key and value: Java Paimon's form of a map whose keys are not text.
    Map,
}

impl LogicalType {
    fn of(json: &Value) -> Option<Self> {
        let number = |name: &str| match json.get(name) {
            None => Some(0),
            Some(value) => value.as_u64().and_then(|value| u8::try_from(value).ok()),
        };
        Some(match json.get("logicalType")?.as_str()? {
            "date" => Self::Date,
            "time-millis" => Self::TimeMillis,
            "time-micros" => Self::TimeMicros,
            "timestamp-millis" => Self::TimestampMillis,
            "timestamp-micros" => Self::TimestampMicros,
            "timestamp-nanos" => Self::TimestampNanos,
            "local-timestamp-millis" => Self::LocalTimestampMillis,
            "local-timestamp-micros" => Self::LocalTimestampMicros,
            "local-timestamp-nanos" => Self::LocalTimestampNanos,
            "decimal" => Self::Decimal {
                precision: number("precision")?,
                scale: number("scale")?,
            },
            "map" => Self::Map,
            _ => return None,
        })
    }
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedType {
    /// With these fields.
    Record(Vec<RecordField>),
    /// So many bytes.
    Fixed(usize),
    /// A symbol by its number.
    Enum,
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordField {
    /// Name.
    pub name: String,
    /// Type.
    pub data_type: AvroType,
}

/// A schema and the named types in it.
#[derive(Debug, Clone)]
pub struct WriterSchema {
    root: AvroType,
    named: Vec<NamedType>,
}

impl WriterSchema {
    /// Parses the JSON of `avro.schema`; types are told by their bytes only, not by their meaning.
    ///
    /// # Errors
    /// [`AvroError::Schema`].
    pub fn parse(text: &[u8]) -> Result<Self, AvroError> {
        Self::parse_with(text, false)
    }

    /// Parses the JSON of `avro.schema` with the logical types in it.
    ///
    /// # Errors
    /// [`AvroError::Schema`].
    pub fn parse_logical(text: &[u8]) -> Result<Self, AvroError> {
        Self::parse_with(text, true)
    }

    fn parse_with(text: &[u8], logical: bool) -> Result<Self, AvroError> {
        let json: Value = serde_json::from_slice(text).map_err(|error| bad(error.to_string()))?;
        let mut parser = Parser {
            logical,
            ..Parser::default()
        };
        let root = parser.parse(&json, "")?;
        Ok(Self {
            root,
            named: parser.named,
        })
    }

    /// The type of the file's items.
    pub fn root(&self) -> &AvroType {
        &self.root
    }

    /// The named types; [`AvroType::Named`] refers to them by position.
    pub fn named(&self) -> &[NamedType] {
        &self.named
    }

    /// The fields of `data_type` if it is a record.
    pub fn record(&self, data_type: &AvroType) -> Option<&[RecordField]> {
        match data_type {
            AvroType::Named(index) => match self.named.get(*index) {
                Some(NamedType::Record(fields)) => Some(fields),
                _ => None,
            },
            _ => None,
        }
    }

    /// A word for the type, for error messages.
    pub fn describe(&self, data_type: &AvroType) -> String {
        match data_type {
            AvroType::Null => "null",
            AvroType::Boolean => "boolean",
            AvroType::Int => "int",
            AvroType::Long => "long",
            AvroType::Float => "float",
            AvroType::Double => "double",
            AvroType::Bytes => "bytes",
            AvroType::String => "string",
            AvroType::Array(_) => "an array",
            AvroType::Map(_) => "a map",
            AvroType::Union(_) => "a union",
            AvroType::Logical(base, _) => return self.describe(base),
            AvroType::Named(index) => match self.named.get(*index) {
                Some(NamedType::Record(_)) => "a record",
                Some(NamedType::Fixed(_)) => "a fixed",
                Some(NamedType::Enum) => "an enum",
                None => "unknown",
            },
        }
        .to_owned()
    }
}

fn bad(reason: impl Into<String>) -> AvroError {
    AvroError::Schema {
        reason: reason.into(),
    }
}

#[derive(Default)]
struct Parser {
    logical: bool,
    named: Vec<NamedType>,
    indexes: HashMap<String, usize>,
}

impl Parser {
    // Depth is bounded: serde_json refuses text nested deeper than 128.
    fn parse(&mut self, json: &Value, namespace: &str) -> Result<AvroType, AvroError> {
        let data_type = self.parse_base(json, namespace)?;
        match LogicalType::of(json).filter(|_| self.logical) {
            Some(logical) => Ok(AvroType::Logical(Box::new(data_type), logical)),
            None => Ok(data_type),
        }
    }

    fn parse_base(&mut self, json: &Value, namespace: &str) -> Result<AvroType, AvroError> {
        match json {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let branches: Vec<AvroType> = branches
                    .iter()
                    .map(|branch| self.parse(branch, namespace))
                    .collect::<Result<_, _>>()?;
                if branches.is_empty()
                    || branches
                        .iter()
                        .any(|branch| matches!(branch, AvroType::Union(_)))
                {
                    return Err(bad("a union is empty or holds a union"));
                }
                Ok(AvroType::Union(branches))
            }
            Value::Object(_) => match json.get("type") {
                Some(Value::String(kind)) => match kind.as_str() {
                    "record" | "error" => self.record(json, namespace),
                    "enum" => self
                        .define(json, namespace, NamedType::Enum)
                        .map(AvroType::Named),
                    "fixed" => {
                        let size = json
                            .get("size")
                            .and_then(Value::as_u64)
                            .and_then(|size| usize::try_from(size).ok())
                            .ok_or_else(|| bad("a fixed has no size"))?;
                        self.define(json, namespace, NamedType::Fixed(size))
                            .map(AvroType::Named)
                    }
                    "array" => {
                        let items = json
                            .get("items")
                            .ok_or_else(|| bad("an array has no items"))?;
                        Ok(AvroType::Array(Box::new(self.parse(items, namespace)?)))
                    }
                    "map" => {
                        let values = json
                            .get("values")
                            .ok_or_else(|| bad("a map has no values"))?;
                        Ok(AvroType::Map(Box::new(self.parse(values, namespace)?)))
                    }
                    name => self.by_name(name, namespace),
                },
                // {"type": {...}} wraps a type.
                Some(inner) => self.parse(inner, namespace),
                None => Err(bad("an object has no type")),
            },
            _ => Err(bad("a type is neither a name, a union nor an object")),
        }
    }

    fn by_name(&self, name: &str, namespace: &str) -> Result<AvroType, AvroError> {
        Ok(match name {
            "null" => AvroType::Null,
            "boolean" => AvroType::Boolean,
            "int" => AvroType::Int,
            "long" => AvroType::Long,
            "float" => AvroType::Float,
            "double" => AvroType::Double,
            "bytes" => AvroType::Bytes,
            "string" => AvroType::String,
            _ => {
                let index = self
                    .indexes
                    .get(&full_name(name, namespace))
                    .or_else(|| self.indexes.get(name))
                    .ok_or_else(|| bad(format!("type {name:?} is not defined")))?;
                AvroType::Named(*index)
            }
        })
    }

    fn define(
        &mut self,
        json: &Value,
        namespace: &str,
        named: NamedType,
    ) -> Result<usize, AvroError> {
        let name = json
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| bad("a named type has no name"))?;
        let namespace = json
            .get("namespace")
            .and_then(Value::as_str)
            .unwrap_or(namespace);
        let index = self.named.len();
        // A name that is defined twice (old writers did so) means its latest definition from there on.
        self.indexes.insert(full_name(name, namespace), index);
        self.named.push(named);
        Ok(index)
    }

    fn record(&mut self, json: &Value, namespace: &str) -> Result<AvroType, AvroError> {
        let index = self.define(json, namespace, NamedType::Record(vec![]))?;
        let inner = match json.get("namespace").and_then(Value::as_str) {
            Some(own) => own.to_owned(),
            None => json
                .get("name")
                .and_then(Value::as_str)
                .and_then(|name| name.rsplit_once('.'))
                .map_or(namespace, |(own, _)| own)
                .to_owned(),
        };
        let fields = json
            .get("fields")
            .and_then(Value::as_array)
            .ok_or_else(|| bad("a record has no fields"))?;
        let mut parsed: Vec<RecordField> = Vec::with_capacity(fields.len());
        for field in fields {
            let name = field
                .get("name")
                .and_then(Value::as_str)
                .ok_or_else(|| bad("a field has no name"))?;
            let data_type = field
                .get("type")
                .ok_or_else(|| bad(format!("field {name:?} has no type")))?;
            parsed.push(RecordField {
                name: name.to_owned(),
                data_type: self.parse(data_type, &inner)?,
            });
        }
        if let Some(slot) = self.named.get_mut(index) {
            *slot = NamedType::Record(parsed);
        }
        Ok(AvroType::Named(index))
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_types_are_found_with_and_without_their_namespace() {
        let schema = WriterSchema::parse(
            br#"{"type":"record","name":"a","namespace":"n","fields":[
                {"name":"x","type":{"type":"fixed","name":"f","size":4}},
                {"name":"y","type":"f"},{"name":"z","type":["null","n.f"]},{"name":"me","type":["null","a"]}]}"#,
        )
        .unwrap();
        assert_eq!(schema.root(), &AvroType::Named(0));
        let types: Vec<_> = schema
            .record(schema.root())
            .unwrap()
            .iter()
            .map(|f| f.data_type.clone())
            .collect();
        assert_eq!(
            types,
            vec![
                AvroType::Named(1),
                AvroType::Named(1),
                AvroType::Union(vec![AvroType::Null, AvroType::Named(1)]),
                AvroType::Union(vec![AvroType::Null, AvroType::Named(0)]),
            ]
        );
        assert_eq!(schema.named().get(1), Some(&NamedType::Fixed(4)));
    }

    #[test]
    fn text_that_is_no_schema_is_refused() {
        for text in [
            "",
            "{",
            "{}",
            "3",
            "[]",
            "\"unknown\"",
            r#"["null",["null"]]"#,
            r#"{"type":"array"}"#,
            r#"{"type":"record","name":"a"}"#,
            r#"{"type":"fixed","name":"a"}"#,
            r#"{"type":"record","fields":[]}"#,
            r#"{"type":"record","name":"a","fields":[{"name":"x"}]}"#,
        ] {
            let error = WriterSchema::parse(text.as_bytes()).unwrap_err();
            assert!(matches!(error, AvroError::Schema { .. }), "{text}");
        }
    }
}
