//! The types of `schema_0`, written by `tests/oracle/run schemas`.

mod inputs;
mod objects;

pub(crate) use self::inputs::*;
pub(crate) use self::objects::*;
use crate::oracle::prelude::*;

schema!(Query);
