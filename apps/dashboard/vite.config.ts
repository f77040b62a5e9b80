import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { defineConfig, type Plugin } from "vite"

/** Smaller files do not get smaller on the wire. */
const MIN_COMPRESSED_BYTES = 512

/** Once here, never again for each reader. */
const compressed = (): Plugin => {
  let folder = ""
  return {
    name: "compressed",
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir, "assets")
    },
    closeBundle: () => {
      for (const name of readdirSync(folder).filter((each) => /\.(?:js|css|svg)$/u.test(each))) {
        const bytes = readFileSync(join(folder, name))
        if (bytes.length < MIN_COMPRESSED_BYTES) continue
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }))
      }
    },
  }
}

export default defineConfig({
  plugins: [react(), tailwindcss(), compressed()],
  build: {
    target: "es2022",
    // A picture inside a style sheet would need a hole in the policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/v1": "http://127.0.0.1:3025", "/auth": "http://127.0.0.1:3025", "/preview": "http://127.0.0.1:3025" },
  },
})
