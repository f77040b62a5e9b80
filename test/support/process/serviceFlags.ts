const { href } = new URL("../../../bin/launch.mjs", import.meta.url)

/** Flags with which the launcher runs a service. */
export const { SERVICE_FLAGS } = (await import(href)) as { readonly SERVICE_FLAGS: ReadonlyArray<string> }
