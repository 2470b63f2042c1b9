//! Figures of one thing measured several times, and what they come to.

use popfib_eval::Paired;
use serde::{Deserialize, Serialize};

/// The figure of each pass, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures(pub(crate) Vec<f64>);

impl Figures {
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// Standard deviation; 0 for a single figure.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|figure| (figure - mean).powi(2)).sum();
        (squares / (self.0.len().max(2) - 1) as f64).sqrt()
    }

    pub(crate) fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The first and the third quartile: a disturbed pass is outside of both.
    pub(crate) fn quartiles(&self) -> (f64, f64) {
        (self.at(0.25), self.at(0.75))
    }

    /// How far the quartiles are apart, over the median.
    pub(crate) fn spread(&self) -> f64 {
        let (low, high) = self.quartiles();
        (high - low) / self.median()
    }

    /// These rates over `other`, pass by pass.
    pub(crate) fn over(&self, other: &Self) -> Option<Paired> {
        Paired::of(&self.0, &other.0)
    }

    /// The figure at `share`, 0 to 1, of the way through the sorted ones; no number if there is none.
    fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let place = share * sorted.len().saturating_sub(1) as f64;
        let figure = |place: f64| sorted.get(place as usize).copied().unwrap_or(f64::NAN);
        let (low, high) = (figure(place.floor()), figure(place.ceil()));
        low + (high - low) * place.fract()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_known_numbers() {
        let figures = Figures(vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((figures.mean(), figures.median()), (5.0, 4.5));
        assert!((figures.deviation() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(figures.quartiles(), (4.0, 5.5));
        assert_eq!(figures.spread(), 1.5 / 4.5);
        assert_eq!(Figures(vec![3.0]).deviation(), 0.0);
        assert!(Figures::default().median().is_nan());
    }
}
