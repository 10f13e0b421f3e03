// In place of prettier in the worker: the page formats operations itself.
export const format = async (text) => text;
export default { format };
