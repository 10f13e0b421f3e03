use std::borrow::Cow;

use bytes::Bytes;
use zeroize::Zeroizing;

use crate::params;

/// Parameters of a request, in order. Values are wiped on drop, because some are secrets.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(Cow<'static, str>, Zeroizing<String>)>);

impl Form {
    pub(crate) fn add(&mut self, name: impl Into<Cow<'static, str>>, value: &str) {
        self.0.push((name.into(), Zeroizing::new(value.to_owned())));
    }

    pub(crate) fn add_some(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    pub(crate) fn add_once(&mut self, name: &'static str, value: &str) {
        if self.0.iter().all(|(present, _)| present != name) {
            self.add(name, value);
        }
    }

    pub(crate) fn encode(&self) -> String {
        params::encode(self.0.iter().map(|(name, value)| (&**name, value.as_str())))
    }

    pub(crate) fn to_body(&self) -> Bytes {
        self.encode().into()
    }
}

impl<const N: usize> From<[(&'static str, &str); N]> for Form {
    fn from(pairs: [(&'static str, &str); N]) -> Self {
        let mut form = Self::default();
        for (name, value) in pairs {
            form.add(name, value);
        }
        form
    }
}
