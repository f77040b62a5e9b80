<?php

declare(strict_types=1);

namespace Waybill;

/**
 * The client: `new Client()` with the key in `WAYBILL_KEY`, or `new Client('wb_…')`.
 *
 * Every call that changes something has a random idempotency key, so that a lost answer is requested again and nothing
 * is done twice.
 */
final class Client
{
    private const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

    public readonly Emails $emails;
    public readonly Logs $logs;
    public readonly Domains $domains;
    public readonly Suppressions $suppressions;
    public readonly Events $events;
    public readonly Inbound $inbound;
    public readonly Threads $threads;
    public readonly Templates $templates;
    private readonly Sender $sender;

    /**
     * @param string|null $apiKey Defaults to `WAYBILL_KEY`, then to `WAYBILL_API_KEY`
     * @param string|null $baseUrl Address of the service without `/v1`. Defaults to `WAYBILL_URL`, then to a service on
     *     this machine
     * @param int $retries How often a request is repeated after a 429, a 5xx or a lost connection
     * @param float $timeout Seconds without data until an attempt has failed
     */
    public function __construct(
        #[\SensitiveParameter] ?string $apiKey = null,
        ?string $baseUrl = null,
        int $retries = 4,
        float $timeout = 30,
    ) {
        $this->sender = new Sender($apiKey, $baseUrl, $retries, $timeout);
        $this->emails = new Emails($this->sender);
        $this->logs = new Logs($this->sender);
        $this->domains = new Domains($this->sender);
        $this->suppressions = new Suppressions($this->sender);
        $this->events = new Events($this->sender);
        $this->inbound = new Inbound($this->sender);
        $this->threads = new Threads($this->sender);
        $this->templates = new Templates($this->sender);
    }

    /**
     * Calls any other endpoint. The operation is as in the reference, `GET /v1/requests/{id}`; the parts fill it in.
     *
     * @param list<string> $parts
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body
     */
    public function request(
        string $operation,
        array $parts = [],
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
    ): mixed {
        return $this->sender->call($operation, $parts, $query, $body, $idempotencyKey);
    }

    /** Whether a text has the format and checksum of an API key. Detects mistyped keys without a request. */
    public static function isWellFormedKey(#[\SensitiveParameter] string $text): bool
    {
        if (preg_match('/^wb_(?:test_)?([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/D', $text, $match) !== 1) {
            return false;
        }
        // CRC-32 in base 62.
        $digits = '';
        for ($rest = crc32($match[1]); $rest > 0; $rest = intdiv($rest, 62)) {
            $digits = self::DIGITS[$rest % 62] . $digits;
        }
        return str_pad($digits, 6, '0', \STR_PAD_LEFT) === $match[2];
    }
}
