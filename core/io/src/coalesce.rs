//! Which requests serve a set of byte ranges.
//!
//! ```text
//!  asked      [0..4)   [6..9)          [20..30)   [22..25)
//!  requests   [0....... 9)             [20......  30)          gap of 2 bridged, gap of 11 not
//! ```
//!
//! A pure plan: it says what to fetch and where each asked range lies in the answers. Order and number of the answers are the caller's.

use std::ops::Range;

use bytes::Bytes;

use crate::IoError;

/// Limits of merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoalesceLimits {
    /// Ranges at most this far apart become one request.
    pub(crate) gap_bytes: u64,
    /// No request is merged beyond this length.
    pub(crate) request_bytes_max: u64,
}

/// Requests and the place of each asked range in them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadPlan {
    /// Sorted by start; none is empty.
    pub(crate) requests: Vec<Range<u64>>,
    /// For each asked range its request and its bytes there; none for an empty range.
    places: Vec<Option<Place>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    request: usize,
    bytes: Range<usize>,
}

impl ReadPlan {
    /// Plans requests for `ranges`, which may overlap, repeat, be empty and be in any order.
    ///
    /// # Errors
    /// [`IoError::InvalidRange`] if a range ends before it starts or is longer than memory can address.
    pub(crate) fn new(
        path: &str,
        ranges: &[Range<u64>],
        limits: CoalesceLimits,
    ) -> Result<Self, IoError> {
        let mut order = Vec::with_capacity(ranges.len());
        for (index, range) in ranges.iter().enumerate() {
            let length = range
                .end
                .checked_sub(range.start)
                .and_then(|length| usize::try_from(length).ok());
            match length {
                None => {
                    return Err(IoError::InvalidRange {
                        path: path.to_owned(),
                        start: range.start,
                        end: range.end,
                    });
                }
                Some(0) => {}
                Some(length) => order.push((range.start, index, range, length)),
            }
        }
        order.sort_unstable_by_key(|&(start, index, ..)| (start, index));
        let mut requests: Vec<Range<u64>> = Vec::new();
        let mut places = vec![None; ranges.len()];
        for (_, index, range, length) in order {
            match requests.last_mut() {
                Some(last) if limits.joins(last, range) => last.end = last.end.max(range.end),
                _ => requests.push(range.clone()),
            }
            let Some(last) = requests.last() else {
                continue;
            };
            let offset =
                usize::try_from(range.start - last.start).map_err(|_| IoError::InvalidRange {
                    path: path.to_owned(),
                    start: range.start,
                    end: range.end,
                })?;
            if let Some(place) = places.get_mut(index) {
                *place = Some(Place {
                    request: requests.len() - 1,
                    bytes: offset..offset.saturating_add(length),
                });
            }
        }
        Ok(Self { requests, places })
    }

    /// Cuts the answers of the requests into the asked ranges, without copying.
    ///
    /// # Errors
    /// [`IoError::ShortRead`] if an answer is shorter than its request.
    pub(crate) fn cut(&self, path: &str, answers: &[Bytes]) -> Result<Vec<Bytes>, IoError> {
        let cut_one = |place: &Option<Place>| {
            let Some(Place { request, bytes }) = place else {
                return Ok(Bytes::new());
            };
            match answers.get(*request) {
                Some(answer) if bytes.end <= answer.len() => Ok(answer.slice(bytes.clone())),
                answer => {
                    let start = self.requests.get(*request).map_or(0, |range| range.start);
                    Err(IoError::ShortRead {
                        path: path.to_owned(),
                        start: start + bytes.start as u64,
                        end: start + bytes.end as u64,
                        available: start + answer.map_or(0, Bytes::len) as u64,
                    })
                }
            }
        };
        self.places.iter().map(cut_one).collect()
    }
}

impl CoalesceLimits {
    /// Whether `next`, which does not start before `last`, belongs into the same request.
    fn joins(&self, last: &Range<u64>, next: &Range<u64>) -> bool {
        let inside = next.end <= last.end;
        let near = next.start <= last.end.saturating_add(self.gap_bytes);
        let joined = next.end.max(last.end) - last.start;
        inside || (near && joined <= self.request_bytes_max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(ranges: &[Range<u64>], gap_bytes: u64, request_bytes_max: u64) -> ReadPlan {
        ReadPlan::new(
            "/f",
            ranges,
            CoalesceLimits {
                gap_bytes,
                request_bytes_max,
            },
        )
        .unwrap()
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one range is meant")]
    fn near_ranges_share_a_request_and_far_ones_do_not() {
        let asked = [20..30, 0..4, 6..9, 22..25];
        assert_eq!(plan(&asked, 2, 100).requests, [0..9, 20..30]);
        assert_eq!(plan(&asked, 1, 100).requests, [0..4, 6..9, 20..30]);
        assert_eq!(plan(&asked, 11, 100).requests, [0..30]);
        assert_eq!(plan(&asked, 11, 29).requests, [0..9, 20..30]);
    }

    #[test]
    fn a_range_beyond_the_largest_request_stays_whole() {
        assert_eq!(plan(&[0..50, 50..51], 0, 10).requests, [0..50, 50..51]);
    }

    #[test]
    fn backward_ranges_are_refused() {
        let limits = CoalesceLimits {
            gap_bytes: 0,
            request_bytes_max: 10,
        };
        let backward = Range { start: 5, end: 4 };
        let refused = ReadPlan::new("/f", std::slice::from_ref(&backward), limits);
        assert!(matches!(
            refused,
            Err(IoError::InvalidRange {
                start: 5,
                end: 4,
                ..
            })
        ));
    }

    #[test]
    fn ranges_at_the_end_of_the_address_space_do_not_overflow() {
        let asked = [u64::MAX - 2..u64::MAX, 0..1];
        assert_eq!(
            plan(&asked, u64::MAX, 10).requests,
            [0..1, u64::MAX - 2..u64::MAX]
        );
    }

    #[test]
    fn a_short_answer_is_named() {
        let ranges = [10..14, 16..20];
        let cut = plan(&ranges, 4, 100).cut("/f", &[Bytes::from_static(b"0123456")]);
        assert!(matches!(
            cut,
            Err(IoError::ShortRead {
                start: 16,
                end: 20,
                available: 17,
                ..
            })
        ));
    }

    proptest! {
        /// Whatever is merged, each answer is the bytes of its range; requests are sorted, bounded and touch no byte twice unless the bound forced a cut.
        #[test]
        fn answers_equal_plain_slices(
            asked in prop::collection::vec((0u64..200, 0u64..40), 0..30),
            gap_bytes in 0u64..50,
            request_bytes_max in 1u64..120,
        ) {
            let file: Vec<u8> = (0..=255).collect();
            let at = |offset: u64| usize::try_from(offset).unwrap();
            let slice = |range: &Range<u64>| {
                Bytes::copy_from_slice(&file[at(range.start)..at(range.end)])
            };
            let ranges: Vec<_> = asked.iter().map(|&(start, length)| start..start + length).collect();
            let plan = plan(&ranges, gap_bytes, request_bytes_max);
            let fetched: Vec<_> = plan.requests.iter().map(slice).collect();
            let answers = plan.cut("/f", &fetched).unwrap();
            prop_assert_eq!(answers, ranges.iter().map(slice).collect::<Vec<_>>());
            prop_assert!(plan.requests.is_sorted_by_key(|request| request.start));
            for request in &plan.requests {
                let length = request.end - request.start;
                prop_assert!(length <= request_bytes_max || ranges.contains(request));
            }
        }

        /// With no bound on the size, neighbours that remain are further apart than the gap.
        #[test]
        fn no_small_gap_is_left(asked in prop::collection::vec((0u64..2000, 1u64..40), 1..30), gap_bytes in 0u64..50) {
            let ranges: Vec<_> = asked.iter().map(|&(start, length)| start..start + length).collect();
            let plan = plan(&ranges, gap_bytes, u64::MAX);
            prop_assert!(plan.requests.windows(2).all(|pair| pair[0].end + gap_bytes < pair[1].start));
        }
    }
}
