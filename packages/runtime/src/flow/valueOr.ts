/** Returns what a function returns, or another value if it throws. */
export const valueOr = <A, B>(read: () => A, other: B): A | B => {
  try {
    return read()
  } catch {
    return other
  }
}
