//! Device names in the list of sessions.

/// A device, guessed from the `User-Agent`. Only shown to its user; no decision depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Device {
    pub(in super::super) name: String,
    /// Selects the phone icon beside the name.
    pub(in super::super) handheld: bool,
}

/// Product token of each browser. Most browsers also send the tokens of older ones, so the youngest
/// come first.
const BROWSERS: [(&str, &str); 9] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

const SYSTEMS: [(&str, &str, bool); 7] = [
    ("iPhone", "iPhone", true),
    ("iPad", "iPad", true),
    ("Android", "Android", true),
    ("Windows", "Windows", false),
    ("Macintosh", "macOS", false),
    ("CrOS", "ChromeOS", false),
    ("Linux", "Linux", false),
];

impl Device {
    /// Derives the device from a `User-Agent`.
    pub(in super::super) fn of(agent: &str) -> Self {
        let browser = BROWSERS.iter().find(|(word, _)| agent.contains(word));
        let browser = browser.map(|(_, name)| *name);
        let system = SYSTEMS.iter().find(|(word, ..)| agent.contains(word));
        let name = match (browser, system) {
            (Some(browser), Some((_, system, _))) => format!("{browser} on {system}"),
            (Some(browser), None) => browser.to_owned(),
            // programs send their name first
            (None, _) => match agent.split(['/', ' ', '(']).next().unwrap_or_default() {
                "" | "Mozilla" => "Unknown device".to_owned(),
                program => program.chars().take(40).collect(),
            },
        };
        Self {
            name,
            handheld: system.is_some_and(|(.., handheld)| *handheld),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_name_has_browser_and_system() {
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, name) in [
            (
                format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/140.0.0.0 Safari/537.36"),
                "Chrome on Linux",
            ),
            (
                format!("Mozilla/5.0 (Windows NT 10.0) {webkit} Chrome/140.0 Safari/537.36 Edg/140.0"),
                "Edge on Windows",
            ),
            (
                format!(
                    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) {webkit} Version/18.0 Safari/604.1"
                ),
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0".to_owned(),
                "Firefox on Android",
            ),
            ("curl/8.14.1".to_owned(), "curl"),
            ("Mozilla/5.0 (Something)".to_owned(), "Unknown device"),
            (String::new(), "Unknown device"),
        ] {
            assert_eq!(Device::of(&agent).name, name, "{agent}");
        }
        assert!(Device::of("Mozilla/5.0 (Linux; Android 15) Chrome/140.0").handheld);
        assert_eq!(Device::of(&"x".repeat(256)).name.len(), 40);
    }
}
