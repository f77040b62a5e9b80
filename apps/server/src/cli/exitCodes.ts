// What scripts may rely on beside 0 and 1; docs/operating/command-line.md says the same.

/** A check ran to its end and found a difference. */
export const EXIT_DIFFERENCE = 3
/** The settings are wrong, as sysexits.h counts. */
export const EXIT_SETTINGS = 78
