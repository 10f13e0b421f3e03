// In place of parts of Monaco that the explorer does not use: the comparison of two texts.
export class DiffEditorWidget {}
export class MultiDiffEditorWidget {}
