//! The objects of `schema_0`, written by `tests/oracle/run schemas`.

use super::*;

pub(crate) struct Query;

#[graph_object(context = Context)]
impl Query {
    fn echo_0(it: Option<i32>) -> String {
        canon(&[&it])
    }
    fn echo_1(it: i32) -> String {
        canon(&[&it])
    }
    fn echo_2(it: Option<f64>) -> String {
        canon(&[&it])
    }
    fn echo_3(it: f64) -> String {
        canon(&[&it])
    }
    fn echo_4(it: Option<String>) -> String {
        canon(&[&it])
    }
    fn echo_5(it: String) -> String {
        canon(&[&it])
    }
    fn echo_6(it: Option<bool>) -> String {
        canon(&[&it])
    }
    fn echo_7(it: bool) -> String {
        canon(&[&it])
    }
    fn echo_8(it: Option<ID>) -> String {
        canon(&[&it])
    }
    fn echo_9(it: ID) -> String {
        canon(&[&it])
    }
    fn echo_10(it: Option<Colour>) -> String {
        canon(&[&it])
    }
    fn echo_11(it: Colour) -> String {
        canon(&[&it])
    }
    fn echo_12(it: Option<Vec<Option<i32>>>) -> String {
        canon(&[&it])
    }
    fn echo_13(it: Option<Vec<i32>>) -> String {
        canon(&[&it])
    }
    fn echo_14(it: Vec<Option<i32>>) -> String {
        canon(&[&it])
    }
    fn echo_15(it: Vec<i32>) -> String {
        canon(&[&it])
    }
    fn echo_16(it: Option<Vec<Option<Vec<Option<i32>>>>>) -> String {
        canon(&[&it])
    }
    fn echo_17(it: Vec<Vec<i32>>) -> String {
        canon(&[&it])
    }
    fn echo_18(it: Option<Vec<ID>>) -> String {
        canon(&[&it])
    }
    fn echo_19(it: Option<Vec<Option<String>>>) -> String {
        canon(&[&it])
    }
    fn echo_20(it: Option<Vec<Colour>>) -> String {
        canon(&[&it])
    }
    fn echo_21(it: Option<Span>) -> String {
        canon(&[&it])
    }
    fn echo_22(it: Span) -> String {
        canon(&[&it])
    }
    fn echo_23(it: Option<Vec<Span>>) -> String {
        canon(&[&it])
    }
    fn echo_24(it: Option<Filter>) -> String {
        canon(&[&it])
    }
    fn echo_25(it: Filter) -> String {
        canon(&[&it])
    }
    fn echo_26(it: Vec<Option<Filter>>) -> String {
        canon(&[&it])
    }
    fn echo_27(it: Option<Size>) -> String {
        canon(&[&it])
    }
    fn echo_28(it: Vec<Size>) -> String {
        canon(&[&it])
    }
    fn defaulted_0(#[graphql(default = 3)] it: i32) -> String {
        canon(&[&it])
    }
    fn defaulted_1(#[graphql(default = Some(4))] it: Option<i32>) -> String {
        canon(&[&it])
    }
    fn defaulted_2(#[graphql(default = 1.5)] it: f64) -> String {
        canon(&[&it])
    }
    fn defaulted_3(#[graphql(default = "a default".to_owned())] it: String) -> String {
        canon(&[&it])
    }
    fn defaulted_4(#[graphql(default = Some(true))] it: Option<bool>) -> String {
        canon(&[&it])
    }
    fn three_int(it: Nullable<i32>) -> String {
        canon(&[&it])
    }
    fn three_list(it: Nullable<Vec<String>>) -> String {
        canon(&[&it])
    }
}
