//! Coerced arguments as text; see `canon` in `tests/oracle/world.mjs`.

use juniper::{ID, Nullable};

/// Coerced argument as text; absent and null differ if the type distinguishes them.
pub(crate) trait Canon: Sync {
    fn canon(&self) -> String;
}

pub(crate) fn canon(given: &[&dyn Canon]) -> String {
    given.iter().map(|it| it.canon()).collect::<Vec<_>>().join(";")
}

impl Canon for i32 {
    fn canon(&self) -> String {
        self.to_string()
    }
}

impl Canon for f64 {
    fn canon(&self) -> String {
        self.to_string()
    }
}

impl Canon for bool {
    fn canon(&self) -> String {
        self.to_string()
    }
}

impl Canon for String {
    fn canon(&self) -> String {
        format!("'{self}'")
    }
}

impl Canon for ID {
    fn canon(&self) -> String {
        format!("'{self}'")
    }
}

impl<T: Canon> Canon for Option<T> {
    fn canon(&self) -> String {
        self.as_ref().map_or("null".to_owned(), Canon::canon)
    }
}

impl<T: Canon> Canon for Nullable<T> {
    fn canon(&self) -> String {
        match self {
            Self::ImplicitNull => "-".to_owned(),
            Self::ExplicitNull => "null".to_owned(),
            Self::Some(it) => it.canon(),
        }
    }
}

impl<T: Canon> Canon for Vec<T> {
    fn canon(&self) -> String {
        let items: Vec<_> = self.iter().map(Canon::canon).collect();
        format!("[{}]", items.join(","))
    }
}
