<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Verifies webhook calls.
 *
 * @phpstan-type WebhookEvent array{
 *   id: string,
 *   type: string,
 *   api_version: string,
 *   created_at: string,
 *   sequence: int|null,
 *   data: array<string, mixed>,
 * }
 */
final class Webhook
{
    /** Maximum difference in seconds between the clocks of sender and receiver. An older call may be a replay attack. */
    public const TOLERANCE = 5 * 60;

    /**
     * Verifies a webhook call against your secrets and returns its event.
     *
     * The body must be the raw body: parsing it and writing it again changes it. During a rotation, pass both secrets.
     *
     * @param array<string, mixed> $headers Such as `getallheaders()`, `$_SERVER`, the headers of PSR-7 or of Symfony
     * @param string|list<string> $secret
     * @return WebhookEvent
     * @throws WaybillError If the call is not genuine, or older than five minutes
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter] string|array $secret,
        ?int $now = null,
    ): array {
        $id = self::header($headers, 'webhook-id');
        $timestamp = self::header($headers, 'webhook-timestamp');
        if ($id === '' || preg_match('/^\d{1,15}$/D', $timestamp) !== 1) {
            throw self::refused('the webhook headers are missing');
        }
        if (abs(($now ?? time()) - (int) $timestamp) > self::TOLERANCE) {
            throw self::refused('the timestamp is too old, or a clock is wrong');
        }
        $signatures = explode(' ', self::header($headers, 'webhook-signature'));
        foreach ((array) $secret as $each) {
            $expected = 'v1,' . self::sign($each, "$id.$timestamp.$body");
            foreach ($signatures as $signature) {
                if (hash_equals($expected, $signature)) {
                    return json_decode($body, true, flags: \JSON_THROW_ON_ERROR);
                }
            }
        }
        throw self::refused('no signature matches your secrets');
    }

    /** @param array<string, mixed> $headers */
    private static function header(array $headers, string $name): string
    {
        foreach ($headers as $key => $value) {
            if (preg_replace('/^http-/', '', strtr(strtolower((string) $key), '_', '-')) === $name) {
                $first = is_array($value) ? reset($value) : $value;
                return is_string($first) ? $first : '';
            }
        }
        return '';
    }

    private static function sign(#[\SensitiveParameter] string $secret, string $text): string
    {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret) ?? '', true);
        // Everybody can sign with an empty secret.
        if ($key === false || $key === '') {
            throw self::refused('a secret is missing or incomplete (whsec_…)');
        }
        return base64_encode(hash_hmac('sha256', $text, $key, true));
    }

    private static function refused(string $problem): WaybillError
    {
        return new WaybillError('unauthorized', "Webhook refused: $problem.", 'webhook_not_verified');
    }
}
