//! Inputs of `schema_0`, written by `tests/oracle/run schemas`.

use juniper::{GraphQLEnum, GraphQLInputObject, Nullable};

use crate::oracle::prelude::*;

#[derive(Clone, Copy, GraphQLEnum, GraphEnum)]
pub(crate) enum Colour {
    Red,
    DarkGreen,
    Blue,
}
enumeration!(Colour: Red = "RED", DarkGreen = "DARK_GREEN", Blue = "BLUE");

#[derive(Clone, Copy, GraphQLEnum)]
pub(crate) enum Size {
    Small,
    Large,
}
enumeration!(Size: Small = "SMALL", Large = "LARGE");

#[derive(Clone, GraphQLInputObject)]
pub(crate) struct Span {
    #[graphql(default = 7)]
    from: i32,
    to_where: Nullable<i32>,
    colours: Vec<Option<Colour>>,
}
canon_input!(Span: from, to_where, colours);

#[derive(Clone, GraphQLInputObject)]
pub(crate) struct Filter {
    #[graphql(default = Some("all".to_owned()))]
    text: Option<String>,
    span: Span,
    spans: Vec<Option<Span>>,
    ratio: f64,
}
canon_input!(Filter: text, span, spans, ratio);
