/**
 * The path of a folder that is not there and that nobody can make, root included. A path such as `/nowhere` is one that a
 * test run as root can make, after which the same test sees it when another user runs it.
 */
export const NOWHERE = "/proc/nowhere"
