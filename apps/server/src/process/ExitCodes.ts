// Exit codes besides 0 and 1, as documented in docs/operating/command-line.md.

/** A plan has changes, as in other tools that plan. */
export const EXIT_PLANNED = 2
/** A check ended and found a difference. */
export const EXIT_DIFFERENCE = 3
/** The settings are invalid (EX_CONFIG of sysexits.h). */
export const EXIT_SETTINGS = 78
