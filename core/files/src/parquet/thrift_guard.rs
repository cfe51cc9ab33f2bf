//! A look over Thrift bytes before the library decodes them.
//!
//! The library reserves memory for some lists by their declared length, and recurses into schemas as deep as they say. Both come from
//! the file, and running out of memory or stack ends the process, so lengths, depths and child counts are checked here first.
//! It also counts through lists that it skips, however long and though their bytes have ended: one changed byte of a page's header would
//! keep a thread busy for hours.
//! Source: Thrift compact protocol; `parquet.thrift` for the numbers of the schema's fields.

/// Deepest nesting of Thrift values; Parquet's own structures need less than ten.
const VALUE_DEPTH_MAX: usize = 32;
/// Deepest nesting of columns.
const SCHEMA_DEPTH_MAX: usize = 200;
/// `FileMetaData.schema`, and in a `SchemaElement` the number of children.
const SCHEMA_FIELD: i64 = 2;
const NUM_CHILDREN_FIELD: i64 = 5;

/// Type of a struct in the compact protocol.
const STRUCT: u8 = 12;
/// `ColumnIndex.null_pages`.
const NULL_PAGES_FIELD: i64 = 1;
/// `PageHeader.compressed_page_size`.
const PAGE_BYTES_FIELD: i64 = 3;

/// What is wrong with bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// They end in the middle: more of them may be fine.
    Ends(String),
    /// A sentence.
    Wrong(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ends(what) | Self::Wrong(what) => f.write_str(what),
        }
    }
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Wrong(what.into()))
}

/// A checked page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckedHeader {
    /// Bytes of the header.
    pub(crate) length: usize,
    /// Bytes of the page behind it, as it says.
    pub(crate) page_bytes: i64,
}

/// Checks the `PageHeader` with which the bytes begin.
///
/// # Errors
/// [`Fault::Ends`] if more bytes are needed to tell.
pub(crate) fn check_page_header(bytes: &[u8]) -> Result<CheckedHeader, Fault> {
    let mut walk = Walk::new(bytes);
    walk.fields(VALUE_DEPTH_MAX, Place::PageHeader)?;
    Ok(CheckedHeader {
        length: walk.at,
        page_bytes: walk.page_bytes,
    })
}

/// Checks the headers of pages that follow each other.
///
/// # Errors
/// What is wrong with the first header that is.
pub(crate) fn check_pages(bytes: &[u8]) -> Result<(), Fault> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let header = check_page_header(rest)?;
        let page = usize::try_from(header.page_bytes).ok();
        let next = page.and_then(|page| rest.get(header.length.checked_add(page)?..));
        rest = match next {
            Some(next) => next,
            None => {
                let said = header.page_bytes;
                return wrong(format!(
                    "the page at byte {at} of {} says it has {said} bytes",
                    bytes.len()
                ));
            }
        };
    }
    Ok(())
}

/// Checks a `FileMetaData`.
///
/// # Errors
/// A sentence that says what is wrong.
pub(crate) fn check_footer(bytes: &[u8]) -> Result<(), Fault> {
    let mut walk = Walk::new(bytes);
    walk.fields(VALUE_DEPTH_MAX, Place::Footer)?;
    check_children(&walk.children)
}

/// Checks a column index or an offset index.
///
/// # Errors
/// As [`check_footer`].
pub(crate) fn check_struct(bytes: &[u8]) -> Result<(), Fault> {
    Walk::new(bytes).fields(VALUE_DEPTH_MAX, Place::Index)
}

/// The schema is a tree in depth-first order; each element tells how many children follow it.
fn check_children(children: &[i64]) -> Result<(), Fault> {
    let mut open: Vec<i64> = Vec::new();
    for (index, &count) in children.iter().enumerate() {
        if let Some(left) = open.last_mut() {
            *left -= 1;
        } else if index > 0 {
            return wrong("the schema has elements behind its end");
        }
        let following = children.len() - index - 1;
        if count < 0 || usize::try_from(count).is_ok_and(|count| count > following) {
            return wrong(format!(
                "a schema element has {count} children, and {following} elements follow"
            ));
        }
        if count > 0 {
            open.push(count);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > SCHEMA_DEPTH_MAX {
            return wrong(format!("columns are nested deeper than {SCHEMA_DEPTH_MAX}"));
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        wrong("the schema ends early")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Footer,
    SchemaElement,
    PageHeader,
    DataPage,
    DataPageV2,
    DictionaryPage,
    PageStatistics,
    /// A column index or an offset index.
    Index,
    /// The one list of truths that there is.
    Truths,
    Other,
}

/// What follows a field of a page header: the library reads a field that it knows as what it should be, whatever the bytes say it is, and
/// from then on sees other fields than are there.
enum Known {
    /// Numbers of 32 and 64 bits, truths and bytes: their types in the bytes.
    Plain(&'static [u8]),
    Struct(Place),
    No,
}

const INT: Known = Known::Plain(&[5]);
const LONG: Known = Known::Plain(&[6]);
const TRUTH: Known = Known::Plain(&[1, 2]);
const BYTES: Known = Known::Plain(&[8]);

fn known(place: Place, id: i64) -> Known {
    match (place, id) {
        (Place::PageHeader | Place::DataPage, 1..=4)
        | (Place::DataPageV2, 1..=6)
        | (Place::DictionaryPage, 1 | 2) => INT,
        (Place::PageHeader, 5) => Known::Struct(Place::DataPage),
        (Place::PageHeader, 6) => Known::Struct(Place::Other),
        (Place::PageHeader, 7) => Known::Struct(Place::DictionaryPage),
        (Place::PageHeader, 8) => Known::Struct(Place::DataPageV2),
        (Place::DataPage, 5) | (Place::DataPageV2, 8) => Known::Struct(Place::PageStatistics),
        (Place::DataPageV2, 7) | (Place::DictionaryPage, 3) => TRUTH,
        (Place::PageStatistics, 1 | 2 | 5 | 6) => BYTES,
        (Place::PageStatistics, 3 | 4) => LONG,
        (Place::PageStatistics, 7 | 8) => TRUTH,
        _ => Known::No,
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Per schema element its number of children.
    children: Vec<i64>,
    /// What a page header says of its page.
    page_bytes: i64,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            children: Vec::new(),
            page_bytes: 0,
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self
            .bytes
            .get(self.at)
            .copied()
            .ok_or_else(|| Fault::Ends(format!("it ends at byte {}", self.at)))?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return wrong(format!("a number at byte {} has no end", self.at));
            }
        }
    }

    fn zigzag(&mut self) -> Result<i64, Fault> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn skip(&mut self, count: u64) -> Result<(), Fault> {
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => {
                self.at += count;
                Ok(())
            }
            _ => Err(Fault::Ends(format!(
                "{count} bytes are announced at byte {}, {} are left",
                self.at,
                self.left()
            ))),
        }
    }

    fn fields(&mut self, depth: usize, place: Place) -> Result<(), Fault> {
        let Some(depth) = depth.checked_sub(1) else {
            return wrong("values are nested too deep");
        };
        let (mut id, mut children) = (0_i64, 0);
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            id = match header >> 4 {
                0 => self.zigzag()?,
                delta => id.saturating_add(delta.into()),
            };
            let kind = header & 0x0f;
            if !(1..=i64::from(i16::MAX)).contains(&id) {
                return wrong(format!("field {id} at byte {}", self.at));
            }
            let known = known(place, id);
            let fits = match &known {
                Known::Plain(kinds) => kinds.contains(&kind),
                Known::Struct(_) => kind == STRUCT,
                Known::No => true,
            };
            if !fits {
                return wrong(format!("field {id} at byte {} has type {kind}", self.at));
            }
            if place == Place::SchemaElement && id == NUM_CHILDREN_FIELD && kind == 5 {
                children = self.zigzag()?;
            } else if place == Place::PageHeader && id == PAGE_BYTES_FIELD && kind == 5 {
                self.page_bytes = self.zigzag()?;
            } else {
                let inner = match (known, place, id) {
                    (Known::Struct(inner), ..) => inner,
                    (_, Place::Footer, SCHEMA_FIELD) => Place::SchemaElement,
                    (_, Place::Index, NULL_PAGES_FIELD) => Place::Truths,
                    _ => Place::Other,
                };
                self.value(kind, depth, inner, false)?;
            }
        }
        if place == Place::SchemaElement {
            self.children.push(children);
        }
        Ok(())
    }

    fn value(&mut self, kind: u8, depth: usize, inner: Place, in_list: bool) -> Result<(), Fault> {
        match kind {
            1 | 2 if in_list => self.skip(1),
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth, inner),
            11 => self.map(depth),
            STRUCT => self.fields(depth, inner),
            13 => self.skip(16),
            other => wrong(format!("type {other} at byte {} is unknown", self.at)),
        }
    }

    /// The library skips a list of truths as if they took no bytes: what it reads next is not what is next.
    fn no_truths(&self, kind: u8) -> Result<(), Fault> {
        match kind {
            1 | 2 => wrong(format!("truths in a list or map at byte {}", self.at)),
            _ => Ok(()),
        }
    }

    fn list(&mut self, depth: usize, inner: Place) -> Result<(), Fault> {
        let Some(depth) = depth.checked_sub(1) else {
            return wrong("values are nested too deep");
        };
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            short => short.into(),
        };
        if inner != Place::Truths {
            self.no_truths(header & 0x0f)?;
        }
        // Every element takes a byte at least.
        if count > self.left() as u64 {
            return Err(Fault::Ends(format!(
                "a list of {count} at byte {}, {} bytes are left",
                self.at,
                self.left()
            )));
        }
        for _ in 0..count {
            self.value(header & 0x0f, depth, inner, true)?;
        }
        Ok(())
    }

    fn map(&mut self, depth: usize) -> Result<(), Fault> {
        let Some(depth) = depth.checked_sub(1) else {
            return wrong("values are nested too deep");
        };
        let count = self.varint()?;
        if count == 0 {
            return Ok(());
        }
        if count > self.left() as u64 {
            return Err(Fault::Ends(format!(
                "a map of {count} at byte {}, {} bytes are left",
                self.at,
                self.left()
            )));
        }
        let kinds = self.byte()?;
        self.no_truths(kinds >> 4)?;
        self.no_truths(kinds & 0x0f)?;
        for _ in 0..count {
            self.value(kinds >> 4, depth, Place::Other, true)?;
            self.value(kinds & 0x0f, depth, Place::Other, true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer whose schema has these child counts: field 2, a list of structs with field 5.
    fn footer(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc, u8::try_from(children.len()).unwrap()];
        for &count in children {
            bytes.extend([0x55, count << 1, 0]);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_tree_that_fits_passes() {
        check_footer(&footer(&[2, 0, 1, 0])).unwrap();
        check_footer(&footer(&[0])).unwrap();
    }

    #[test]
    fn child_counts_must_add_up() {
        for children in [&[2, 0][..], &[60, 0, 0], &[1, 0, 0], &[0, 0]] {
            check_footer(&footer(children)).unwrap_err();
        }
    }

    #[test]
    fn a_list_longer_than_the_bytes_is_refused() {
        // Field 4, list of structs with 2^31 elements.
        let error = check_footer(&[0x49, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x08, 0]).unwrap_err();
        assert!(
            error.to_string().contains("a list of 2147483648"),
            "{error}"
        );
        check_struct(&[0x19, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x08, 0]).unwrap_err();
    }

    #[test]
    fn deep_values_and_deep_schemas_are_refused() {
        check_struct(&[0x1c; 100]).unwrap_err();
        let mut deep = vec![1_u8; 255];
        deep[254] = 0;
        let mut bytes = vec![0x29, 0xfc, 255, 1];
        for count in deep {
            bytes.extend([0x55, count << 1, 0]);
        }
        bytes.push(0);
        let error = check_footer(&bytes).unwrap_err();
        assert!(error.to_string().contains("deeper"), "{error}");
    }

    #[test]
    fn text_longer_than_the_bytes_is_refused() {
        check_struct(&[0x18, 0x7f, b'a', 0]).unwrap_err();
        check_struct(&[0x18, 1, b'a', 0]).unwrap();
    }

    /// Field 3: five bytes of page; another field: a list of truths as long as it says, without a byte of its own for the library.
    #[test]
    fn pages_are_walked_by_what_their_headers_say() {
        let page = [0x35, 10, 0, 1, 2, 3, 4, 5];
        assert_eq!(
            check_page_header(&page),
            Ok(CheckedHeader {
                length: 3,
                page_bytes: 5
            })
        );
        check_pages(&[page, page].concat()).unwrap();
        assert!(matches!(check_pages(&page[..7]), Err(Fault::Wrong(_))));
        assert!(matches!(check_pages(&page[..2]), Err(Fault::Ends(_))));
        let negative = [0x35, 1, 0];
        assert!(matches!(check_pages(&negative), Err(Fault::Wrong(_))));
        let long_list = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
        check_page_header(&long_list).unwrap_err();
        let short_list = [0x19, 0x21, 1, 1, 0];
        check_page_header(&short_list).unwrap_err();
        check_struct(&short_list).unwrap();
    }

    /// The library reads field 5 as a struct whatever it is: a text of 24 bytes would be fields to it, a list without end among them.
    #[test]
    fn fields_of_a_page_header_have_their_types() {
        let text = [0x58, 24];
        let header = [&text[..], &[0; 24], &[0]].concat();
        check_page_header(&header).unwrap_err();
        let data_page = [
            0x15, 0, 0x15, 2, 0x15, 2, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0,
        ];
        let checked = check_page_header(&data_page).unwrap();
        assert_eq!((checked.length, checked.page_bytes), (data_page.len(), 1));
        let dictionary = [
            0x15, 4, 0x15, 2, 0x15, 2, 0x4c, 0x15, 2, 0x15, 0, 0x12, 0, 0,
        ];
        check_page_header(&dictionary).unwrap();
        let far_field = [0x05, 0x80, 0x80, 0x08, 0, 0];
        check_page_header(&far_field).unwrap_err();
    }
}
