/** Removes fields that are empty, so that the URL and the API show only the filters that are set. */
export const defined = <A extends object>(fields: A): { readonly [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== "")) as never
