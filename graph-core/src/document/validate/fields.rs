//! [Fields](https://spec.graphql.org/September2025/#sec-Validation.Fields).

use super::walk::Walk;
use crate::document::parse::Field;
use crate::schema::{Field as FieldDefinition, TypeId};

impl<'t> Walk<'_, 't> {
    /// 5.3.3 Leaf Field Selections.
    pub(super) fn leaf(&mut self, field: &Field<'t>, definition: Option<&FieldDefinition>) {
        let Some(definition) = definition else { return };
        let is_leaf = self.schema.type_at(definition.ty.named).is_leaf();
        let (name, ty) = (field.name.text, self.printed(definition));
        match (is_leaf, field.selections.is_empty()) {
            (true, false) => {
                let message = format!(
                    "Field \"{name}\" must not have a selection since type \"{ty}\" has no subfields."
                );
                self.report(message, [field.selections_at]);
            }
            (false, true) => {
                let message = format!(
                    "Field \"{name}\" of type \"{ty}\" must have a selection of subfields. Did you mean \"{name} {{ ... }}\"?"
                );
                self.report(message, [field.at()]);
            }
            (true, true) | (false, false) => {}
        }
    }

    /// 5.3.1 Field Selections.
    pub(super) fn exists(
        &mut self,
        parent: Option<TypeId>,
        field: &Field<'t>,
        definition: Option<&FieldDefinition>,
    ) {
        if let (Some(parent), None) = (parent, definition) {
            let parent = &self.schema.type_at(parent).name;
            let message = format!("Cannot query field \"{}\" on type \"{parent}\".", field.name.text);
            self.report(message, [field.at()]);
        }
    }
}
