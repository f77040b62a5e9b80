import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { defineConfig, type Plugin } from "vite"

/** Compression does not make smaller files smaller. */
const MIN_COMPRESSED_BYTES = 512

/** Writes .gz and .br files at build time, so that the server does not compress each response. */
const precompress = (): Plugin => {
  let folder = ""
  return {
    name: "precompress",
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
  plugins: [react(), tailwindcss(), precompress()],
  build: {
    target: "es2022",
    // Inlined images would require data: in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // A browser waits for each file, so what every screen needs is in few of them.
        codeSplitting: {
          groups: [
            {
              name: "vendor",
              test: /node_modules\/(?:react|react-dom|scheduler|@tanstack\/(?!(?:react-)?virtual)[a-z-]+|@base-ui|@floating-ui)\//,
            },
            {
              name: "shared",
              test: /apps\/dashboard\/src\/(?:api|overview\/(?:TimeRange|isHighRate)|shell|ui|session\/Names|settings\/UsageMeter|webhooks\/(?:DisabledReason|ResponseStatus|WebhookStatus)|operate\/queueFigures|firstEmail\/ReceiveCommand|emails\/list\/SentTime)|domain\/src\/(?:explanation\/DeliveryRates|webhook\/shownWebhookStatus)|node_modules\/lucide-react/,
              minShareCount: 2,
            },
            { name: "mail", test: /apps\/dashboard\/src\/(?:emails|firstEmail)\//, minShareCount: 3 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { "/v1": "http://127.0.0.1:3025", "/auth": "http://127.0.0.1:3025", "/preview": "http://127.0.0.1:3025" },
  },
})
