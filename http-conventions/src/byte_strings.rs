//! Byte strings of a fixed length, and their `serde` form.

/// Defines a public byte string with `from_bytes`, `as_bytes`, a hexadecimal `Debug`, and base64url
/// for `serde`.
macro_rules! byte_string {
    ($(#[$meta:meta])* pub struct $name:ident($length:literal);) => {
        $(#[$meta])*
        pub struct $name([u8; $length]);

        impl $name {
            /// Restores a value from a store.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; $length]) -> Self {
                Self(bytes)
            }

            /// Bytes to keep in a store.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $length] {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}(", stringify!($name))?;
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(")")
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::byte_strings::base64url::serialize(&self.0, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let bytes: bytes::Bytes = $crate::byte_strings::base64url::deserialize(deserializer)?;
                let exact = <[u8; $length]>::try_from(bytes.as_ref());
                exact.map(Self).map_err(|_| serde::de::Error::custom("byte string of the wrong length"))
            }
        }
    };
}

pub(crate) use byte_string;

/// Bytes as base64url text, for `#[serde(with = …)]`.
pub(crate) mod base64url {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use bytes::Bytes;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        URL_SAFE_NO_PAD
            .decode(text)
            .map(Bytes::from)
            .map_err(D::Error::custom)
    }
}

/// Header lines as pairs of a name and base64url text, for `#[serde(with = …)]`.
pub(crate) mod header_pairs {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize, Serialize)]
    struct Pair<'a>(
        std::borrow::Cow<'a, str>,
        #[serde(with = "super::base64url")] Bytes,
    );

    pub(crate) fn serialize<S: Serializer>(
        pairs: &[(String, Bytes)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pairs.iter().map(|(name, value)| Pair(name.into(), value.clone())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, Bytes)>, D::Error> {
        let pairs = Vec::<Pair<'de>>::deserialize(deserializer)?;
        Ok(pairs
            .into_iter()
            .map(|Pair(name, value)| (name.into_owned(), value))
            .collect())
    }
}
