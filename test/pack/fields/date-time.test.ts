import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { normalizeDateTime } from "../../../src/pack/fields/keys/date-time.ts";
import { sendToLibrary } from "../load/library-gateway.ts";

describe("T-3.5 date-times", () => {
  test.each([
    ["2017-01-01T00:00:00", "2017-01-01T00:00:00"],
    ["2017-01-01T00:00:00Z", "2017-01-01T00:00:00"],
    ["2017-01-01T00:00:00.000Z", "2017-01-01T00:00:00"],
    ["2017-01-01T23:59:59.999999999", "2017-01-01T23:59:59"],
    ["2017-01-01T00:30:00+01:00", "2016-12-31T23:30:00"],
    ["2017-01-01T00:30:00-0530", "2017-01-01T06:00:00"],
    ["2016-02-29T00:00:00", "2016-02-29T00:00:00"],
    ["0050-01-01T00:00:00", "0050-01-01T00:00:00"],
  ])("%s is %s", (text, expected) => expect(normalizeDateTime(text)).toBe(expected));

  test.each([
    "",
    "2017-01-01",
    "2017-01-01 00:00:00",
    "2017-01-01T00:00",
    "2017-1-1T00:00:00",
    "2017-02-29T00:00:00",
    "2017-04-31T00:00:00Z",
    "2017-13-01T00:00:00",
    "2017-00-01T00:00:00",
    "2017-01-01T24:00:00",
    "2017-01-01T00:60:00",
    "2017-01-01T00:00:60",
    "2017-01-01T00:00:00.",
    "2017-01-01T00:00:00+24:00",
    "2017-01-01T00:00:00+00:60",
    "2017-01-01T00:00:00 ",
    "2017-01-01T00:00:00\n",
    "+002017-01-01T00:00:00",
    "9999-12-31T23:59:59-01:00",
    "0000-01-01T00:00:00+01:00",
    "1483228800",
    "now",
  ])("%j is not a date-time", (text) => expect(normalizeDateTime(text)).toBeUndefined());

  test("of a list are all converted", async () => {
    const bought = ["2018-01-02T03:04:05.6Z", null, "soon", "2018-01-02T03:04:05"];
    const { body } = await sendToLibrary({}, { method: "GET", path: "/old/books/5" }, () => [
      200,
      { bought },
    ]);
    expect(body).toMatchObject({ since: ["2018-01-02T03:04:05", null, "soon", "2018-01-02T03:04:05"] });
  });

  test("four-digit years keep their second in every time zone", () => {
    const moment = fc.date({
      min: new Date("0001-01-02T00:00:00Z"),
      max: new Date("9999-12-30T00:00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, fc.integer({ min: -1439, max: 1439 }), (date, minutes) => {
        const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const two = (n: number) => String(n).padStart(2, "0");
        const size = Math.abs(minutes);
        const zone = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        expect(normalizeDateTime(local + zone)).toBe(date.toISOString().slice(0, 19));
      }),
    );
  });

  test("parsing never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(normalizeDateTime(text) ?? "0000-00-00T00:00:00").toHaveLength(19);
      }),
    );
  });
});
