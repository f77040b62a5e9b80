import { assert, it } from "vitest"
import { paths, read } from "./source.ts"

/** A table with texts as keys, and its name. */
const TABLE =
  /^(?:export )?const ([A-Z][A-Z_]+): (?:Readonly<Record<string, .*>>|Record<string, .*>|\{ readonly \[\w+: string\].*\}) = \{/gmu

/**
 * Tables that are read with `table[key]`, because no key of theirs can be a name that every object has: single characters
 * and short names, addresses, and words of our own.
 */
const SAFE: ReadonlyArray<string> = [
  // One character, or a name that a pattern bounds.
  "apps/server/src/http/pages/reference/Html.ts",
  "packages/mail/src/compose/TrackedHtml.ts",
  "packages/mail/src/mime/MimeReader.ts",
  "packages/mail/src/aggregate/XmlReader.ts",
  "packages/store/src/erasure/Mask.ts",
  "packages/domain/src/values/HiddenCharacters.ts",
  "packages/testing/src/content/Html.ts",
  // Words of our own code, such as reasons, statuses and types of events.
  "apps/server/src/http/pages/DashboardPages.ts",
  "apps/server/src/http/pages/reference/Examples.ts",
  "apps/server/src/smtp/Submission.ts",
  "apps/server/src/webhookFormats/ResendEvent.ts",
  "packages/domain/src/email/Script.ts",
  "packages/mail/src/transport/Simulator.ts",
  "packages/nodemailer-transport/src/Api.ts",
  "packages/store/src/copy/CopyBinary.ts",
  "packages/store/src/packed/Layout.ts",
  "apps/dashboard/src/api/ApiError.ts",
  "apps/dashboard/src/domains/RecordStatus.tsx",
  "apps/dashboard/src/emails/Timeline.tsx",
  "apps/dashboard/src/operate/Projections.tsx",
  "apps/dashboard/src/settings/AuditLog.tsx",
  "apps/dashboard/src/ui/display/Badge.tsx",
  "apps/dashboard/src/ui/display/eventName.ts",
]

it("tables answer only to their own entries, because constructor is a key of every object", () => {
  const found = paths
    .filter((path) => /^(?:apps|packages)\/.*\.tsx?$/u.test(path))
    .flatMap((path) => {
      const { text } = read(path)
      const names = [...text.matchAll(TABLE)].map(([, name = ""]) => name)
      const reads = (name: string) =>
        text.split("\n").some((line) => line.includes(`${name}[`) && !line.includes(`Object.hasOwn(${name}, `))
      return names.some(reads) ? [path] : []
    })
  assert.deepStrictEqual(
    found.filter((path) => !SAFE.includes(path)),
    [],
    "read it with Table.at of @waybill/domain/values/Table",
  )
  assert.deepStrictEqual(
    SAFE.filter((path) => !found.includes(path)),
    [],
    "no longer needed in the list",
  )
})
