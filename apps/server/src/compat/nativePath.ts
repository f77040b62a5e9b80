/** Builds a path of our own API from a template; values are encoded, so that none can change the route. */
export const nativePath = (parts: TemplateStringsArray, ...values: ReadonlyArray<string | undefined>): string =>
  String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value ?? "")))
