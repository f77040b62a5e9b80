const UNRELEASED = "## [Unreleased]"
/** The sentences that hold until the first release, with the heading that follows them. */
const BEFORE_FIRST = /Nothing has been released yet,[^]*?\n\n/u

/**
 * Puts the heading of a release over what was noted as unreleased, and an empty part for what comes next above it. A release
 * without a note is refused: nobody could say what it brings.
 */
export const withRelease = (changelog: string, version: string, day: string): string => {
  const at = changelog.indexOf(UNRELEASED)
  if (at < 0) throw new Error(`CHANGELOG.md has no ${UNRELEASED}`)
  const after = changelog.slice(at + UNRELEASED.length)
  const next = after.search(/\n## /u)
  if ((next < 0 ? after : after.slice(0, next)).trim() === "")
    throw new Error("CHANGELOG.md says nothing of this release")
  if (changelog.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has ${version} already`)
  return `${changelog.slice(0, at).replace(BEFORE_FIRST, "")}${UNRELEASED}\n\n## [${version}] - ${day}${after}`
}
