import { readFileSync } from "node:fs"

/** A `tsx` block of the client's README, named by its heading and its number below it. */
export interface Sample {
  readonly name: string
  readonly program: string
}

const HEADER = `import { Waybill } from "@waybill/client"\nconst waybill = new Waybill()\n`

/** Returns the programs of the client's README. Those that use the `waybill` of the first one begin with it. */
export const readmeSamples = (): ReadonlyArray<Sample> => {
  const text = readFileSync("packages/client/README.md", "utf8")
  return text.split(/^## /mu).flatMap((section) => {
    const [heading = ""] = section.split("\n", 1)
    return [...section.matchAll(/```tsx?\n([^]*?)```/gu)].map(([, program = ""], i) => ({
      name: `${heading.toLowerCase().replaceAll(" ", "-")}-${i + 1}`,
      // Each sample is a module of its own, which may declare the same names as another.
      program: `${program.includes("new Waybill(") ? "" : HEADER}${program}\nexport {}\n`,
    }))
  })
}
