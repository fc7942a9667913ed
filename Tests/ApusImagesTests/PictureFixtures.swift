// Made by Tools/pictures/generate.py; do not edit.

extension PictureFixture {
  /// Files of every kind, with the pixels that Pillow reads in them.
  static let all: [PictureFixture] = [
    PictureFixture(
      name: "png gray", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHCAAAAAD2G5jGAAAANklEQVR4nD3MsQkAMRDEQAzHzlbw7r9TB36sQIlAa6WhadR8\
        NH7NFpV6TUDNJury2r1sUtKUA46QAvDC5FeBAAAAAElFTkSuQmCC
        """,
      pixels: """
        AQcPFRwjKzE5P0ZOVRceJS0zOkFIUFZdZGsuNTtCSlFXX2Zsc3uCREtSWmFnbnV8g4qSmVtiaW92foWMk5qhqK9xeH+HjpSb\
        oqqwt7/GiI+WnKSrsrjAxs7V3A==
        """),
    PictureFixture(
      name: "png one bit", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHAQAAAAD7C/q3AAAAHUlEQVR4nGNg4GBi9WCSYWAxYWY6IMB47RFD9AsAGbIEfzfG\
        T0EAAAAASUVORK5CYII=
        """,
      pixels: """
        AAAAAAAAAAAAAAAA/wAAAAAA/wD/AP8A/wAAAP8AAAAA/wD/AP8AAP8A/wD/AP8A/wD//wAAAP8A/wD/AP//AP///wD/AP//\
        AP8A////AP8A//8A//////8A/w==
        """),
    PictureFixture(
      name: "png rgb", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHCAIAAABcElBNAAAAcElEQVR4nFWPOQ7DMAwEh5TLaWInP9D/f2gxRUTA6RbEHsNI\
        OPHCCz/4anE+9BsPpmBgYmFg4cKFgQMLC4+aJi4EaZGdXJjIzweONgUGrm7NPh4598qNYD36wLtjf3yj+Qqz3Zsv5l6shhtd\
        X/0c+AWuDCcMT1hDwwAAAABJRU5ErkJggg==
        """,
      pixels: """
        AgAAFAAMJwAYOgAkTwAwYAA8cwBIiABUmgBgqwBsvgB40wCE5wCQAiQMFCQYKCQkPCQwTiQ8YSRIciRUhiRgmCRsrCR4wSSE\
        0iSQ5iScAUgYFkgkJkgwPEg8TkhIX0hUckhgiEhsmUh4rkiEv0iQ1Eic5kioAGwkFmwwKWw8PGxITGxUYGxgc2xshmx4mGyE\
        rGyQwWyc0myo52y0ApAwFJA8J5BIOZBUTJBgX5Bsc5B4iJCEmZCQrJCcvpCo05C05ZDAArQ8FLRIKLRUO7RgT7RsYLR4crSE\
        h7SQm7ScrrSov7S00rTA5LTMA9hIFNhUJthgOthsTdh4YNiEddiQhdicmNiordi0wdjA0djM5NjY
        """),
    PictureFixture(
      name: "png rgba", width: 13, height: 7, format: .rgba, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHCAYAAADTcMcaAAAAgklEQVR4nF2QSw7DMAhEB8c7ZtE2UU9g7n/CQBcGFWUxMp/H\
        jGQRACdoF2hv0E7QvqC9Wv1JXak5FhXYElAPUD3fPpecO6gTixrYElDvBKuPBKX1E+vvWuBokDx2AHXG2u4Fj5YG0KKlRR35\
        2iAS9jz05nw8TCfyI7wtqr5bQqU5qD9U6io6iG73PgAAAABJRU5ErkJggg==
        """,
      pixels: """
        AQAAABQADCUoABhKOQAkb0wAMJRiADy5cgBI3oUAVAObAGAorQBsTb8AeHLTAISX5wCQvAMkDAsUJBgwKCQkVTokMHpPJDyf\
        YCRIxHUkVOmFJGAOmyRsM64keFjAJIR90SSQouUknMcDSBgWE0gkOydIMGA7SDyFTEhIqmBIVM90SGD0hkhsGZpIeD6sSIRj\
        wUiQiNJInK3kSKjSA2wkIRZsMEYnbDxrOmxIkE1sVLVibGDadWxs/4dseCSbbIRJrGyQbsBsnJPTbKi45Gy03QKQMCwTkDxR\
        KJBIdjyQVJtPkGDAX5Bs5XWQeAqHkIQvmpCQVKuQnHm+kKie0pC0w+SQwOgAtDw3FbRIXCi0VIE5tGCmTbRsy2G0ePBztIQV\
        iLSQOpq0nF+utKiEv7S0qdS0wM7mtMzzANhIQhXYVGcm2GCMOthssU/YeNZf2IT7dNiQIIXYnEWY2Khqrdi0j77YwLTS2MzZ\
        5NjY/g==
        """),
    PictureFixture(
      name: "png gray alpha", width: 13, height: 7, format: .rgba, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHCAQAAAB5eQ+RAAAATElEQVR4nGWOwQ2AMAwDqVTFlu5fJvD+K/KgQCvkV+K7KK0d\
        FafiKIryTX2gJaYwojBvZTRXD9bPhdeC1W09JwpHf2uPEX1MZ39DiAtXqggieKZNoAAAAABJRU5ErkJggg==
        """,
      pixels: """
        AQEBAAcHByUPDw9KFRUVbx0dHZQkJCS5Kysr3jIyMgM4ODgoQEBATUZGRnJOTk6XVVVVvBcXFwseHh4wJSUlVSwsLHozMzOf\
        Ojo6xEFBQelJSUkOT09PM1dXV1heXl59ZGRkomxsbMctLS0WNDQ0Ozs7O2BCQkKFSkpKqlFRUc9YWFj0Xl5eGWZmZj5tbW1j\
        dHR0iHt7e62CgoLSREREIUtLS0ZSUlJrWVlZkGFhYbVnZ2fabm5u/3V1dSR8fHxJg4ODbouLi5OSkpK4mJiY3VpaWixhYWFR\
        aWlpdnBwcJt2dnbAfn5+5YSEhAqMjIwvk5OTVJqamnmhoaGeqKiow6+vr+hxcXE3eHh4XH9/f4GGhoamjY2Ny5SUlPCbm5sV\
        oqKiOqmpqV+wsLCEt7e3qb+/v87Gxsbzh4eHQo+Pj2eWlpaMnJycsaOjo9aqqqr7sbGxILm5uUW/v79qx8fHj87OzrTV1dXZ\
        3Nzc/g==
        """),
    PictureFixture(
      name: "png palette of 2", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHAQMAAADpvlVZAAAABlBMVEV0on5zJFR/ik8DAAAAFklEQVR4nGP8/5OJgYGJgYHh\
        AwMcAAAxIwLuAQY3dQAAAABJRU5ErkJggg==
        """,
      pixels: """
        cyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRU\
        cyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUcyRUdKJ+dKJ+dKJ+dKJ+dKJ+\
        dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+\
        dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+dKJ+
        """),
    PictureFixture(
      name: "png palette of 4", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHAgMAAACuHi+JAAAADFBMVEWtoqIxolSsJHgyJCooHGttAAAAI0lEQVR4nGP8/3/N\
        NSaGPwwMTAwMDAwMoSEMDAguEwMDAwMAp6oGLdO6ueYAAAAASUVORK5CYII=
        """,
      pixels: """
        MiQqMiQqMiQqMiQqMiQqMiQqMiQqrCR4rCR4rCR4rCR4rCR4rCR4MiQqMiQqMiQqMiQqMiQqMiQqrCR4rCR4rCR4rCR4rCR4\
        rCR4rCR4MiQqMiQqMiQqMiQqMiQqMiQqrCR4rCR4rCR4rCR4rCR4rCR4rCR4MaJUMaJUMaJUMaJUMaJUMaJUMaJUraKiraKi\
        raKiraKiraKiraKiMaJUMaJUMaJUMaJUMaJUMaJUraKiraKiraKiraKiraKiraKiraKiMaJUMaJUMaJUMaJUMaJUMaJUraKi\
        raKiraKiraKiraKiraKiraKiMaJUMaJUMaJUMaJUMaJUMaJUraKiraKiraKiraKiraKiraKiraKi
        """),
    PictureFixture(
      name: "png palette of 16", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHBAMAAAAhXtopAAAAMFBMVEXJ2MbJtLqHxpbNgauQeIJFxmwKxkg6kFQwbELKSJbK\
        JIqHNma3AHJIMz4ROh06ACSgXObBAAAAOklEQVR4nAXBwQmAQBAEwRYmgM3YVEzksri3IezOTxBkrDqmWMVW2mkjgMyj98pi\
        Pp0FAaV9xxGGDD/7DhuwrpxxtAAAAABJRU5ErkJggg==
        """,
      pixels: """
        ETodOgAkOgAkOgAkOgAkOgAkhzZmtwBytwBytwBytwBytwByyiSKETodETodETodSDM+SDM+SDM+hzZmhzZmhzZmyiSKyiSK\
        yiSKyiSKETodETodETodSDM+SDM+SDM+hzZmhzZmhzZmykiWykiWykiWykiWETodMGxCMGxCMGxCMGxCOpBUkHiCkHiCkHiC\
        kHiCzYGrzYGrzYGrCsZIOpBUOpBUOpBUOpBUOpBUkHiCkHiCkHiCzYGrzYGrzYGrzYGrCsZICsZICsZIRcZsRcZsRcZsh8aW\
        h8aWh8aWybS6ybS6ybS6ybS6CsZICsZIRcZsRcZsRcZsRcZsh8aWh8aWh8aWydjGydjGydjGydjG
        """),
    PictureFixture(
      name: "png palette of 200", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHCAMAAADkrjcoAAABEVBMVEXm2NjT2MzA2MCt2LTntMzStMDBtLSrtKiY2KiG2Jx0\
        2JCbtJyHtJB0tITkkMDUkLTAkKitkJzkbLTSbKjBbJytbJCbkJCGkISabISIbHh0bGxf2IRM2Hg82GxgtHhPtGw7tGAntFQm\
        2GAW2FQA2EgWtEgAtDxykHhikGxOkGA5kFQokEgTkDwAkDBfbGBPbFQ6bEgnbDwVbDABbCTkSKjRSJzASJCuSITnJJzSJJC+\
        JISuJHibSHiGSGxySGCbJGyGJGBzJFTlAJDSAITAAHisAGybAGCGAFRyAEhfSFRPSEg6SDxiJEhMJDw7JDAoJCQmSDAUSCQA\
        SBgUJBgDJAxhADxMADA6ACQpABgVAAwDAADYKSIlAAAAaklEQVR4nGOIiowIDwv1cHdzdXF2YggJ9vfz9XF0sLe2srRgCAoM\
        8PbytLO1MTczNWEwNjI00NeTkpQQFREWYtDV0dbS1FAXFxMU4OdjUFNVVJCX4+XhZmdjZWFQUVaSlZHm4uRgZmJkAAD/rhAA\
        XobEpAAAAABJRU5ErkJggg==
        """,
      pixels: """
        AwAAFQAMKQAYOgAkTAAwYQA8cgBIhgBUmwBgrABswAB40gCE5QCQAyQMFCQYKCQkOyQwTCQ8YiRIcyRUhiRgmyRsriR4viSE\
        0iSQ5yScAEgYFEgkJkgwOkg8T0hIX0hUckhghkhsm0h4rkiEwEiQ0Uic5EioAWwkFWwwJ2w8OmxIT2xUX2xgdGxsiGx4mmyE\
        rWyQwWyc0myo5Gy0AJAwE5A8KJBIOZBUTpBgYpBscpB4hpCEm5CQrZCcwJCo1JC05JDAALQ8FrRIJ7RUO7RgT7RsYLR4dLSE\
        h7SQm7Scq7SowbS00rTA57TMANhIFthUJthgPNhsTNh4X9iEdNiQhticmNiordi0wNjA09jM5tjY
        """),
    PictureFixture(
      name: "png palette with transparency", width: 13, height: 7, format: .rgba, tolerance: 0,
      orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHBAMAAAAhXtopAAAAGFBMVEWsxq6tkJytbJAxtFowbEKtNn6sAGwxJCpbQ1CFAAAA\
        BHRSTlP///8AQCqp9AAAADBJREFUeJwFwdEJgEAMBbAobwGndcqD26T9VqQmx03xBNPe+PbFzmIhpotJMc2Jxg/+qBFVEhTw\
        xAAAAABJRU5ErkJggg==
        """,
      pixels: """
        MSQq/zEkKv8xJCr/MSQq/zEkKv8xJCr/rABs/6wAbP+sAGz/rABs/6wAbP+sAGz/rABs/zEkKv8xJCr/MSQq/zEkKv8xJCr/\
        MSQq/6wAbP+tNn7/rTZ+/602fv+tNn7/rTZ+/602fv8xJCr/MSQq/zEkKv8wbEL/MGxC/zBsQv+tNn7/rTZ+/602fv+tNn7/\
        rTZ+/602fv+tbJD/MGxC/zBsQv8wbEL/MGxC/zBsQv8wbEL/rWyQ/61skP+tbJD/rWyQ/61skP+tbJD/rWyQ/zBsQv8wbEL/\
        MGxC/zG0WgAxtFoAMbRaAK2QnP+tkJz/rZCc/62QnP+tkJz/rZCc/62QnP8xtFoAMbRaADG0WgAxtFoAMbRaADG0WgCtkJz/\
        rMau/6zGrv+sxq7/rMau/6zGrv+sxq7/MbRaADG0WgAxtFoAMbRaADG0WgAxtFoArMau/6zGrv+sxq7/rMau/6zGrv+sxq7/\
        rMau/w==
        """),
    PictureFixture(
      name: "png 16-bit gray", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHEAAAAACmi0SFAAAAyElEQVR4nAG9AEL/AGEPY2kmdb6VWwPl8oUXAz42KLMLb28T\
        LbzHAK4WSGEWnGhvgoQTk2gpBdOnjdFnvl1ey5/YACfnaCUQHP3C944gZdD7M+nKZE8hLqtTz8uoAIrW0c+RDJ191e8aS5/t\
        tuDUAtU4CVO6QWT3AMgNz1hoRwMC3kpQKdj2OiEuVM/7ur3r+1M5AEKMB5gad0j1yx4tlb3fV+dKsbIlkQxS2Vf0ACJaN7PE\
        ePskZQmabUDYFkX3KaEJG1PGmiwuc0ZWNb07kFwAAAAASUVORK5CYII=
        """,
      pixels: """
        YWMmvlvlhQM2sm8TvK1IF2iCE2gGp9G+Xp8oaBD99yDQNMpPLlPLitGQndUan7bT1Am6ZcfPaAPdUNg6Ls+661NCCBpJyi29\
        WEqxkFNYIjfE+mWaQRb2oBvGLA==
        """),
    PictureFixture(
      name: "png 16-bit rgb", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHEAIAAAAMgowOAAACNElEQVR4nAEpAtb9AFIPcbPPGGRo8iddrW+vFVvMq1AexGS3\
        6j8BTIZ+fmKbFQoThaX9PEfHmOlVnMjXE53Nf57Z+sdGvCLkweBvW4YL9wHL+p/uOHhy5MXqpABb8PJJzPk20iJdQcS3l9x3\
        uwwu9eJJFN8U0EKyKhugoCjxG8jBd0W6DT0h/DgbYy1DY/vWk2VUiXE3IYuzqIEjUUmlzozL6a1JgoIh9dAAaqmGlnmMo16+\
        mRLbZdtdO86TUoyOb6fYwPFWZYdXOusY3rg05/Q1j4EKydu+MIeNwGC85krauHKpYimr4nJ1yFp/GLmXv4HensGgEwDqABFN\
        cXpMeZT63U3V27prGHZDmPoOdFsXVgtpG9kBVrW9m4M2dbbcctLTk5owRHdoiruD8yZRN0T9Bzl8t0xy5tYxDSCZShWKHs3M\
        h0oF4gAcvbNe4zP8V387VIcANBaHH4AM6s/dXw55r1GEHeM1twZSZP9I19OMZifUmllqnmcgppm8GNP0sgNAwBTfkO43KTTn\
        rFnMc68154XZdu8AE98/HKvIhs8a5Ygv30KH1JdbbxorvAfLVuyFT3jjZ9JRgKdbYkXHBKg4enTCR/Bh8bwDRA2T39p3uJ2R\
        bIbIeifVV9RKCBDaDcY5SjaeAFLYsJFInw62D84VU0bcFdUiuhfnIau6EGYMIcPEhzbXfj9pVGgEOVQRVhGgLMiTIfRIMyND\
        6zIaaPSWw6NmrEvY94W2CrWzqYNukLAYyClkECUOJGYhAAAAAElFTkSuQmCC
        """,
      pixels: """
        UnHOZPFdbxXMUMS3P0x+YhUTpTzH6JzWnX/Zxrvk4FsMAvrteOTqXPHMNyJCt9y6L+EVFUIqoCkcwUUNIjhjQ/uTVHEhs4FR\
        pYzpSYL1aoZ5o74TZV3OUo6nwFaHOxm35zWByb2HwLxLuKkq4nVaGZeBnp8BEXFMlNzVuhhD+XQXCxwBtZs2tnLTmkRou/JR\
        RQd8TOYxIEqKzYcGHbPi+39UABYfDc9feVEeNgZlSdNm1FmeIZkZ9AO/3+0p51lzNoV2FD+rhhuI3oeXbywIV4V4Z1GnYsao\
        esLv8QMO33edbMgoV0oRDjk2U7BIDxAVRxYjGCK5ZiLEN35paDkREi2T8zNEMmmWo6zYhQuzg5AZ
        """),
    PictureFixture(
      name: "png 16-bit rgba", width: 13, height: 7, format: .rgba, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHEAYAAACD4BtZAAAC6klEQVR4nAHfAiD9ALxtpEPzwZNGD9zTag//33YyVLGN8BkY\
        om7iLomTAFc630IAqmdxk6AboQI7shP7TTD++6Neef05scKFalFakUVt73aK/yNU4jhHKWn7BzWIpz22EzC3zXPKCCwe2CEM\
        475waYibNYbBANsqV5vCNHeX6/xA9hFZsmynQE+G5o6ljFbP7SLgqoOxdkhAiqsJ7I1502IViPOaX08mT91+wqczsn9SZHjw\
        p/lg6IRyNB9URjQJZA/Euk1KS/CarZhF3q6MMmRzN/M2t4/FabPG1O2GABFfBnXMTN+AceWXqe0yC1JIm4OxzzYC03wM3CzX\
        oXUGdQtc7j+Z6GXddKBDhQUyG9bTfBvM3lAbgAfY3/cq6Q8KENGVXbqn9gVxxwT6zDZ3E4eAoG+OUllmTbJIM8Hp32jz85MI\
        P71lAK+K0hnp8GuQXhvI9D6qtgAc/YFCjHjDgMyjH30G0CZ+1lDXUbRJh8I38HLom2PNC3AVyK/smmyMVD1CMyNGYufwNXO0\
        SuO0zdOa76qWtEAV8FW1oXX+iOvAloHR2ipfLPaQAWGP+rdIAH1smoikAfWH+EfbYyu8uZBONZs4xS0dNyuppj9H4rC3B6wF\
        4GtkJN2WA4ADM/lJFHefXw/nZ7FhTitqxc4SVfguSZgWZQ39Km0bKEDgjjvkPKGHa9aMd+VHV/JM/HQd7ff/7yZJ8fuVAH49\
        /xBUSANhUhqkMO+Y/saX+O54v/raBNZvJppcbLiDDpsKhhd8qTEwHffl+CdJ+hFabT3UyED5rV0wXbt5rsDy9mvkkXze0a8U\
        2EOAzhr+lAuV9LXZ/MrOtardixuwimg1/AA8YalrAGJ2olqZM0FQLNYUgcw5z+MZcswFmc43jQMuF8FhP/M6HsvAiEtKKn9s\
        zBQ16m9ZCTPlXNMS7tfYM4IG37zcRwOeYoQYmqVem9f0EYijDwpw3IEb9v7bFCk82deWzy7klyJqBzzGN0+CnRBulhWb6FgA\
        AAAASUVORK5CYII=
        """,
      pixels: """
        vKTzkxDTEN8yse8Zbi6SV94BZ5McArH6Mfte/LGFUZFudv5VOCn6Nae1Mc3JLNcNvmmbhtpXwXfrQRGyp0/mpVbs4IN2QKrs\
        eWKImk9QfqeyUninYYQ0VDRkxE1MmpjejGQ4N49pxu0RBszfcZfsC0iDzgN829d1dV0/592ghTLWfMxQgNj26ArRXacFxvo2\
        E4BvUmayNOlp8wi9r9Hpa17IPrUdgYzDzB8HJtXWtIc4cpvMcMjsbFRCI2Pvc0u00++WQO+1dojAgdlf9gGPt32ao/X32yy5\
        TpvEHSumSLAIBmsllYA0SXdf57FOas1WLpdl/G0o4Dw8h9Z3R/H7HvfuSvt+/lQDUqTv/pfuv9nWJly4DwoXqTD390oRbdRB\
        rTC7rvJrkd6u14Abk5W1/M6qi7Bo+zypYqKZQS0Uy88Zy5k3Axhh8h/ASypsFOpZNFwT1zMHvEeehJpe1xGiCtwc/hQ9187k\
        IgfFTw==
        """),
    PictureFixture(
      name: "png interlaced", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        iVBORw0KGgoAAAANSUhEUgAAAA0AAAAHCAIAAAErFWDbAAAA+klEQVR4nAXBMU4CQRQG4B9p6YwbDvACodtWmQO8ArGZ3oH6\
        VYrJHGDWWL5SYA+wyUarV8va0wgWcwCEa/h96ANbBDygPEHR13KuYaN60Q4jDJ/BX4iYKK807rTBFQ8nXM6Ynzi8c/xmPXMD\
        ZB7nMM9xlXWbm13uzjmjwOAWFOAq+Bbyg4SCacrukX3F0nI6co1C3VT9QqXS1Gp9VMNN9ndZljlVuf7Mdsh79GhwTcMxkaNy\
        Rm5B/Ez+jcKapKXYUTqQnqhGT6iQciRuKjwXv5TwIvIqcS2pFe2kPkhzEUPPXGE8Me8s3JssLa4sVaYbqz+s6cx+rfuz/T/A\
        bnXbXpeCswAAAABJRU5ErkJggg==
        """,
      pixels: """
        AwAAFgAMJgAYOQAkTwAwYAA8cwBIhQBUmwBgqwBsvgB40QCE5ACQASQMEyQYJyQkPCQwTCQ8YSRIcyRUiCRgmSRsqyR4wCSE\
        0iSQ5CScAkgYFkgkKUgwO0g8TEhIX0hUckhghUhsmEh4q0iEwUiQ00ic5kioAWwkFmwwJmw8O2xITmxUYmxgdWxshmx4mWyE\
        q2yQwGyc0myo52y0A5AwFpA8KZBIO5BUTpBgYZBsdJB4hZCEmpCQq5Ccv5Co05C055DAAbQ8FrRIKbRUPLRgTbRsYrR4dLSE\
        hbSQmrScrbSowLS01LTA5bTMANhIFdhUJ9hgOthsTth4YtiEdNiQhdicm9iorti0v9jA0tjM5tjY
        """),
    PictureFixture(
      name: "bmp 1 bit", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        Qk1aAAAAAAAAAD4AAAAoAAAADQAAAAcAAAABAAEAAAAAABwAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wBb6AAA1rgAABVo\
        AABVWAAAIVAAAAVQAAAACAAA
        """,
      pixels: """
        AAAAAAAAAAAAAAAA/wAAAAAA/wD/AP8A/wAAAP8AAAAA/wD/AP8AAP8A/wD/AP8A/wD//wAAAP8A/wD/AP//AP///wD/AP//\
        AP8A////AP8A//8A//////8A/w==
        """),
    PictureFixture(
      name: "bmp 8 bits gray", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        Qk2mBAAAAAAAADYEAAAoAAAADQAAAAcAAAABAAgAAAAAAHAAAADEDgAAxA4AAAABAAAAAQAAAAAAAAEBAQACAgIAAwMDAAQE\
        BAAFBQUABgYGAAcHBwAICAgACQkJAAoKCgALCwsADAwMAA0NDQAODg4ADw8PABAQEAAREREAEhISABMTEwAUFBQAFRUVABYW\
        FgAXFxcAGBgYABkZGQAaGhoAGxsbABwcHAAdHR0AHh4eAB8fHwAgICAAISEhACIiIgAjIyMAJCQkACUlJQAmJiYAJycnACgo\
        KAApKSkAKioqACsrKwAsLCwALS0tAC4uLgAvLy8AMDAwADExMQAyMjIAMzMzADQ0NAA1NTUANjY2ADc3NwA4ODgAOTk5ADo6\
        OgA7OzsAPDw8AD09PQA+Pj4APz8/AEBAQABBQUEAQkJCAENDQwBEREQARUVFAEZGRgBHR0cASEhIAElJSQBKSkoAS0tLAExM\
        TABNTU0ATk5OAE9PTwBQUFAAUVFRAFJSUgBTU1MAVFRUAFVVVQBWVlYAV1dXAFhYWABZWVkAWlpaAFtbWwBcXFwAXV1dAF5e\
        XgBfX18AYGBgAGFhYQBiYmIAY2NjAGRkZABlZWUAZmZmAGdnZwBoaGgAaWlpAGpqagBra2sAbGxsAG1tbQBubm4Ab29vAHBw\
        cABxcXEAcnJyAHNzcwB0dHQAdXV1AHZ2dgB3d3cAeHh4AHl5eQB6enoAe3t7AHx8fAB9fX0Afn5+AH9/fwCAgIAAgYGBAIKC\
        ggCDg4MAhISEAIWFhQCGhoYAh4eHAIiIiACJiYkAioqKAIuLiwCMjIwAjY2NAI6OjgCPj48AkJCQAJGRkQCSkpIAk5OTAJSU\
        lACVlZUAlpaWAJeXlwCYmJgAmZmZAJqamgCbm5sAnJycAJ2dnQCenp4An5+fAKCgoAChoaEAoqKiAKOjowCkpKQApaWlAKam\
        pgCnp6cAqKioAKmpqQCqqqoAq6urAKysrACtra0Arq6uAK+vrwCwsLAAsbGxALKysgCzs7MAtLS0ALW1tQC2trYAt7e3ALi4\
        uAC5ubkAurq6ALu7uwC8vLwAvb29AL6+vgC/v78AwMDAAMHBwQDCwsIAw8PDAMTExADFxcUAxsbGAMfHxwDIyMgAycnJAMrK\
        ygDLy8sAzMzMAM3NzQDOzs4Az8/PANDQ0ADR0dEA0tLSANPT0wDU1NQA1dXVANbW1gDX19cA2NjYANnZ2QDa2toA29vbANzc\
        3ADd3d0A3t7eAN/f3wDg4OAA4eHhAOLi4gDj4+MA5OTkAOXl5QDm5uYA5+fnAOjo6ADp6ekA6urqAOvr6wDs7OwA7e3tAO7u\
        7gDv7+8A8PDwAPHx8QDy8vIA8/PzAPT09AD19fUA9vb2APf39wD4+PgA+fn5APr6+gD7+/sA/Pz8AP39/QD+/v4A////AIeO\
        lZ2kq7K4wMfN1dwAAABxeH+GjZWboqmwuL/GAAAAW2Fob3d+hYyTmqCorwAAAERLUllgZ252fISKkpkAAAAtNTtDSVFXXmZt\
        dHuCAAAAFx4lLDQ6QUhQVl1kawAAAAAIDhUdJCoyOUBHTlUAAAA=
        """,
      pixels: """
        AAgOFR0kKjI5QEdOVRceJSw0OkFIUFZdZGstNTtDSVFXXmZtdHuCREtSWWBnbnZ8hIqSmVthaG93foWMk5qgqK9xeH+GjZWb\
        oqmwuL/Gh46VnaSrsrjAx83V3A==
        """),
    PictureFixture(
      name: "bmp 8 bits palette", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk1GAQAAAAAAANYAAAAoAAAADQAAAAcAAAABAAgAAAAAAHAAAADEDgAAxA4AACgAAAAoAAAAzNjUALTYqwDAtNIAqLSrAJzY\
        hgCQtIYAupDbAKiQvwCobNIAkGytAJCQmgB4bIYAeNhNAGDYKQBytFcAYLQ6AE7YDABItBQAbJBgAFSQPAA8kBUAVGxNADxs\
        JwAqbAsAnEjTAJAk0gB4JKwAeEiaAGAkhwCEANIAbACsAFQAhwBUSGAAPEg8ADwkTAAkSBMAGCQUADAATgAYACYABgAMABAQ\
        DQ0MDAQEAQEAAAAAAAAREREPDg4FBQUDAgICAAAAFBQUExMSEgoKCgcGBgAAABcXFhUVFQsLCwkICAgAAAAjIyMhISAgGxsb\
        GBgYAAAAJCQkIiIiHBwcGhkZGQAAACcnJiUlJR8fHh4dHR0AAAA=
        """,
      pixels: """
        DAAGDAAGJgAYTgAwTgAwTgAwhwBUhwBUrABsrABs0gCE0gCE0gCEFCQYFCQYFCQYTCQ8TCQ8TCQ8hyRghyRghyRgrCR40iSQ\
        0iSQ0iSQE0gkE0gkE0gkPEg8PEg8YEhUYEhUmkh4mkh4mkh400ic00ic00icC2wqC2wqJ2w8TWxUTWxUTWxUhmx4hmx4hmx4\
        rWyQ0myo0myo0myoFZA8FZA8FZA8PJBUPJBUYJBsYJBsmpCQmpCQmpCQv5Co25C625C6FLRIFLRIFLRIOrRgV7RyV7RyhrSQ\
        hrSQhrSQq7So0rTA0rTA0rTADNhODNhOKdhgKdhgTdh4Tdh4htichticq9i0q9i01NjM1NjM1NjM
        """),
    PictureFixture(
      name: "bmp 24 bits", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk1OAQAAAAAAADYAAAAoAAAADQAAAAcAAAABABgAAAAAABgBAADEDgAAxA4AAAAAAAAAAAAASNgCVNgWYNgnbNg8eNhNhNhh\
        kNh1nNiHqNibtNiuwNjAzNjR2NjlADy0Aki0E1S0KWC0Omy0T3i0X4S0c5C0h5y0m6i0rbS0wMC00sy05AAwkAI8kBNIkCZU\
        kDxgkE1skF94kHSEkIWQkJqckK2okL+0kNHAkOQAJGwAMGwUPGwnSGw8VGxPYGxibGxyeGyFhGyYkGytnGzAqGzRtGzkABhI\
        AiRIFDBIKDxIOkhIT1RIX2BIdGxIhXhImYRIq5BIwJxI1KhI5QAMJAMYJBMkJCkwJDk8JE5IJGFUJHVgJIZsJJp4JK6EJMCQ\
        JNScJOQAAAAADAATGAAmJAA8MABNPABgSABzVACGYACbbACueAC/hADRkADnAA==
        """,
      pixels: """
        AAAAEwAMJgAYPAAkTQAwYAA8cwBIhgBUmwBgrgBsvwB40QCE5wCQAyQMEyQYKSQkOSQwTiQ8YSRIdSRUhiRgmiRsriR4wCSE\
        1CSQ5CScAkgYFEgkKEgwOkg8T0hIX0hUdEhghUhsmUh4q0iEwEiQ1Eic5UioAGwkFGwwJ2w8PGxIT2xUYmxgcmxshWx4mGyE\
        rWyQwGyc0Wyo5Gy0ApAwE5A8JpBIPJBUTZBgX5BsdJB4hZCEmpCQrZCcv5Co0ZC05JDAArQ8E7RIKbRUOrRgT7RsX7R4c7SE\
        h7SQm7ScrbSowLS00rTA5LTMAthIFthUJ9hgPNhsTdh4YdiEddiQh9icm9iorti0wNjA0djM5djY
        """),
    PictureFixture(
      name: "bmp 24 bits top down", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk1OAQAAAAAAADYAAAAoAAAADQAAAPn///8BABgAAAAAABgBAAATCwAAEwsAAAAAAAAAAAAAAAADDAAWGAAmJAA5MABPPABg\
        SABzVACFYACbbACreAC+hADRkADkAAwkARgkEyQkJzAkPDwkTEgkYVQkc2AkiGwkmXgkq4QkwJAk0pwk5AAYSAIkSBYwSCk8\
        SDtISExUSF9gSHJsSIV4SJiESKuQSMGcSNOoSOYAJGwBMGwWPGwmSGw7VGxOYGxibGx1eGyGhGyZkGyrnGzAqGzStGznADCQ\
        AzyQFkiQKVSQO2CQTmyQYXiQdISQhZCQmpyQq6iQv7SQ08CQ5wA8tAFItBZUtClgtDxstE14tGKEtHSQtIWctJqotK20tMDA\
        tNTMtOUASNgAVNgVYNgnbNg6eNhOhNhikNh0nNiFqNibtNiuwNi/zNjS2NjmAA==
        """,
      pixels: """
        AwAAFgAMJgAYOQAkTwAwYAA8cwBIhQBUmwBgqwBsvgB40QCE5ACQASQMEyQYJyQkPCQwTCQ8YSRIcyRUiCRgmSRsqyR4wCSE\
        0iSQ5CScAkgYFkgkKUgwO0g8TEhIX0hUckhghUhsmEh4q0iEwUiQ00ic5kioAWwkFmwwJmw8O2xITmxUYmxgdWxshmx4mWyE\
        q2yQwGyc0myo52y0A5AwFpA8KZBIO5BUTpBgYZBsdJB4hZCEmpCQq5Ccv5Co05C055DAAbQ8FrRIKbRUPLRgTbRsYrR4dLSE\
        hbSQmrScrbSowLS01LTA5bTMANhIFdhUJ9hgOthsTth4YtiEdNiQhdicm9iorti0v9jA0tjM5tjY
        """),
    PictureFixture(
      name: "bmp 24 bits core", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk0yAQAAAAAAABoAAAAMAAAADQAHAAEAGABI2ABU2BVg2Cds2Dp42E6E2GKQ2HSc2IWo2Ju02K7A2L/M2NLY2OYAPLQBSLQW\
        VLQpYLQ8bLRNeLRihLR0kLSFnLSaqLSttLTAwLTUzLTlADCQAzyQFkiQKVSQO2CQTmyQYXiQdISQhZCQmpyQq6iQv7SQ08CQ\
        5wAkbAEwbBY8bCZIbDtUbE5gbGJsbHV4bIaEbJmQbKucbMCobNK0bOcAGEgCJEgWMEgpPEg7SEhMVEhfYEhybEiFeEiYhEir\
        kEjBnEjTqEjmAAwkARgkEyQkJzAkPDwkTEgkYVQkc2AkiGwkmXgkq4QkwJAk0pwk5AAAAAMMABYYACYkADkwAE88AGBIAHNU\
        AIVgAJtsAKt4AL6EANGQAOQA
        """,
      pixels: """
        AwAAFgAMJgAYOQAkTwAwYAA8cwBIhQBUmwBgqwBsvgB40QCE5ACQASQMEyQYJyQkPCQwTCQ8YSRIcyRUiCRgmSRsqyR4wCSE\
        0iSQ5CScAkgYFkgkKUgwO0g8TEhIX0hUckhghUhsmEh4q0iEwUiQ00ic5kioAWwkFmwwJmw8O2xITmxUYmxgdWxshmx4mWyE\
        q2yQwGyc0myo52y0A5AwFpA8KZBIO5BUTpBgYZBsdJB4hZCEmpCQq5Ccv5Co05C055DAAbQ8FrRIKbRUPLRgTbRsYrR4dLSE\
        hbSQmrScrbSowLS01LTA5bTMANhIFdhUJ9hgOthsTth4YtiEdNiQhdicm9iorti0v9jA0tjM5tjY
        """),
    PictureFixture(
      name: "bmp 32 bits", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk2iAQAAAAAAADYAAAAoAAAADQAAAAcAAAABACAAAAAAAGwBAAATCwAAEwsAAAAAAAAAAAAASNgATVTYFU1g2CdNbNg6TXjY\
        Tk2E2GJNkNh0TZzYhU2o2JtNtNiuTcDYv03M2NJN2NjmTTy0AU1ItBZNVLQpTWC0PE1stE1NeLRiTYS0dE2QtIVNnLSaTai0\
        rU20tMBNwLTUTcy05U0wkANNPJAWTUiQKU1UkDtNYJBOTWyQYU14kHRNhJCFTZCQmk2ckKtNqJC/TbSQ003AkOdNJGwBTTBs\
        Fk08bCZNSGw7TVRsTk1gbGJNbGx1TXhshk2EbJlNkGyrTZxswE2obNJNtGznTRhIAk0kSBZNMEgpTTxIO01ISExNVEhfTWBI\
        ck1sSIVNeEiYTYRIq02QSMFNnEjTTahI5k0MJAFNGCQTTSQkJ00wJDxNPCRMTUgkYU1UJHNNYCSITWwkmU14JKtNhCTATZAk\
        0k2cJORNAAADTQwAFk0YACZNJAA5TTAAT008AGBNSABzTVQAhU1gAJtNbACrTXgAvk2EANFNkADkTQ==
        """,
      pixels: """
        AwAAFgAMJgAYOQAkTwAwYAA8cwBIhQBUmwBgqwBsvgB40QCE5ACQASQMEyQYJyQkPCQwTCQ8YSRIcyRUiCRgmSRsqyR4wCSE\
        0iSQ5CScAkgYFkgkKUgwO0g8TEhIX0hUckhghUhsmEh4q0iEwUiQ00ic5kioAWwkFmwwJmw8O2xITmxUYmxgdWxshmx4mWyE\
        q2yQwGyc0myo52y0A5AwFpA8KZBIO5BUTpBgYZBsdJB4hZCEmpCQq5Ccv5Co05C055DAAbQ8FrRIKbRUPLRgTbRsYrR4dLSE\
        hbSQmrScrbSowLS01LTA5bTMANhIFdhUJ9hgOthsTth4YtiEdNiQhdicm9iorti0v9jA0tjM5tjY
        """),
    PictureFixture(
      name: "bmp 16 bits 555", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk36AAAAAAAAADYAAAAoAAAADQAAAAcAAAABABAAAAAAAMQAAAATCwAAEwsAAAAAAAAAAAAAaQNqC2wTbR9vJ3AzcjtzQ3VP\
        dld4X3lre3MAAMcCyQrKFswezSbPMtA60kLTTtVW1mLYatlyAABGAkcKSRZKHkwmTTJPOlBCUk5TVlVeVmpYcgAApAGmCacR\
        qR2qJawxrTmvQbBNslWzYbVptnEAACMBJAkmFScdKSUqLSw5LUEvTTBVMmEzaTVxAACBAIMIhBCGHIckiTCKOIxEjUyPVJBg\
        kmiTcAAAAAABCAMQBBwGJAcwCTgKQAxMDVQPXBBoEnAAAA==
        """,
      pixels: """
        AAAAEAAIIAAYOQAgSgAxYgA5cwBKgwBSnABirABqvQB71QCD5gCUACAIECAYICAgOSAxSiA5YiBKcyBSiyBinCBqrCB7xSCD\
        1SCU5iCcAEoYEEogKUoxOUo5SkpKWkpSc0pig0pqnEp7rEqDxUqU1Uqc5kqsAGogEGoxIGo5OWpKSmpSYmpic2pqg2p7nGqD\
        rGqUxWqc1Wqs5mq0AJQxEJQ5KZRKOZRSSpRiYpRqc5R7g5SDnJSUrJScvZSs1ZS05pTFALQ5ELRKKbRSObRiSrRqYrR7c7SD\
        g7SUnLScrLSsxbS01bTF5rTNAN5KEN5SIN5iOd5qSt57Yt6Dc96Ug96cnN6srN60vd7F1d7N5t7e
        """),
    PictureFixture(
      name: "bmp 16 bits 565", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk0GAQAAAAAAAEIAAAAoAAAADQAAAAcAAAABABAAAwAAAMQAAAATCwAAEwsAAAAAAAAAAAAAAPgAAOAHAAAfAAAAyQbKFswm\
        zT7PTtBm0nbThtWe1q7YvtnW2+YAAKcFqRWqLaw9rU2vZbB1soWznbWttsW41bnlAACGBIcUiSyKPIxMjWSPdJCEkpyTrJW8\
        ltSY5AAAZANmE2cjaTtqS2xjbXNvg3Cbcqtzw3XTduMAAEMCRBJGKkc6SUpKWkxyTYJPmlCqUsJT0lXiAAAhASMRJCEmOSdJ\
        KWEqcSyJLZkvqTDBMtEz4QAAAAABEAMgBDgGSAdgCXAKgAyYDagPuBDQEuAAAA==
        """,
      pixels: """
        AAAAEAAIIAAYOQAgSgAxYgA5cwBKgwBSnABirABqvQB71QCD5gCUACQIECQYICQgOSQxSiQ5YiRKcyRSiyRinCRqrCR7xSSD\
        1SSU5iScAEgYEEggKUgxOUg5SkhKWkhSc0hig0hqnEh7rEiDxUiU1Uic5kisAG0gEG0xIG05OW1KSm1SYm1ic21qg217nG2D\
        rG2UxW2c1W2s5m20AJExEJE5KZFKOZFSSpFiYpFqc5F7g5GDnJGUrJGcvZGs1ZG05pHFALY5ELZKKbZSObZiSrZqYrZ7c7aD\
        g7aUnLacrLasxba01bbF5rbNANpKENpSINpiOdpqStp7YtqDc9qUg9qcnNqsrNq0vdrF1drN5tre
        """),
    PictureFixture(
      name: "bmp 32 bits fields with alpha", width: 13, height: 7, format: .rgba, tolerance: 0,
      orientation: 1,
      file: """
        Qk3mAQAAAAAAAHoAAABsAAAADQAAAAcAAAABACAAAwAAAGwBAAATCwAAEwsAAAAAAAAAAAAA/wAAAAD/AAAAAP8AAAAA/wAA\
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA2EhIFdhUaSfYYIc62GymTth4xmLY\
        hOZ02JAEhdicIZvYqEOu2LRiv9jAf9LYzJ7m2Ni+AbQ8PRa0SF4ptFR9PLRgnE20bLlitHjadLSE+IW0kBWatJw2rbSoVcC0\
        tHTUtMCU5bTMsQOQMDMWkDxSKZBIcTuQVI9OkGCuYZBszXSQeOyFkIQJmpCQKquQnEe/kKhn05C0h+eQwKcBbCQlFmwwRiZs\
        PGI7bEiDTmxUomJsYMJ1bGzhhmx4/plshB2rbJA7wGycXNJsqHrnbLSbAkgYGhZIJDopSDBZO0g8d0xISJRfSFSzckhg0oVI\
        bPGYSHgQq0iEL8FIkFHTSJxv5kiojgEkDA0TJBgrJyQkSzwkMGxMJDyIYSRIqXMkVMeIJGDomSRsBaskeCPAJIRE0iSQYuQk\
        nIADAAADFgAMIiYAGD45ACRdTwAwf2AAPJxzAEi7hQBU2ZsAYPurAGwXvgB4NtEAhFXkAJB0
        """,
      pixels: """
        AwAAAxYADCImABg+OQAkXU8AMH9gADyccwBIu4UAVNmbAGD7qwBsF74AeDbRAIRV5ACQdAEkDA0TJBgrJyQkSzwkMGxMJDyI\
        YSRIqXMkVMeIJGDomSRsBaskeCPAJIRE0iSQYuQknIACSBgaFkgkOilIMFk7SDx3TEhIlF9IVLNySGDShUhs8ZhIeBCrSIQv\
        wUiQUdNInG/mSKiOAWwkJRZsMEYmbDxiO2xIg05sVKJibGDCdWxs4YZseP6ZbIQdq2yQO8BsnFzSbKh652y0mwOQMDMWkDxS\
        KZBIcTuQVI9OkGCuYZBszXSQeOyFkIQJmpCQKquQnEe/kKhn05C0h+eQwKcBtDw9FrRIXim0VH08tGCcTbRsuWK0eNp0tIT4\
        hbSQFZq0nDattKhVwLS0dNS0wJTltMyxANhISBXYVGkn2GCHOthspk7YeMZi2ITmdNiQBIXYnCGb2KhDrti0Yr/YwH/S2Mye\
        5tjYvg==
        """),
    PictureFixture(
      name: "bmp 4 bits", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk2uAAAAAAAAAHYAAAAoAAAADQAAAAcAAAABAAQAAAAAADgAAAATCwAAEwsAABAAAAAAAAAAAAD/ABAo9gAgUO0AMHjkAECg\
        2wBQyNIAYPDJAHAYwACAQLcAkGiuAKCQpQCwuJwAwOCTANAIigDgMIEA8Fh4AKdswLV6r4AAlpEFK+HOsAA3TatGg/hAANMN\
        P8TYPOAA6bm8yg/OkABZTccqp6bQAAAY+Z3c6xAA
        """,
      pixels: """
        /wAA/wAA9igQt0CAeFjwrmiQrmiQigjQigjQk+DAgTDgnLiw9igQ0shQrmiQ26BAigjQk+DAwBhw7VAgpZCgpZCgwBhwpZCg\
        yfBgigjQgTDgrmiQnLiwrmiQnLiwk+DAk+DApZCg/wAAeFjwk+DAgTDgrmiQigjQ5Hgw/wAAigjQ5HgweFjwk+DA26BAigjQ\
        t0CA5Hgwk+DAgTDg5HgwwBhw26BAigjQpZCgnLiw26BAyfBgt0CA5HgweFjwt0CA26BArmiQyfBgrmiQ9igQ/wAA0shQ7VAg\
        nLiwgTDg9igQk+DAgTDgnLiwpZCgwBhwyfBgk+DAk+DA/wAAnLiw0shQwBhwpZCgpZCgeFjwt0CA
        """),
    PictureFixture(
      name: "bmp 4 bits core", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk2CAAAAAAAAAEoAAAAMAAAADQAHAAEABAAAAP8QKPYgUO0weORAoNtQyNJg8MlwGMCAQLeQaK6gkKWwuJzA4JPQCIrgMIHw\
        WHinbMC1eq+AAJaRBSvhzrAAN02rRoP4QADTDT/E2DzgAOm5vMoPzpAAWU3HKqem0AAAGPmd3OsQAA==
        """,
      pixels: """
        /wAA/wAA9igQt0CAeFjwrmiQrmiQigjQigjQk+DAgTDgnLiw9igQ0shQrmiQ26BAigjQk+DAwBhw7VAgpZCgpZCgwBhwpZCg\
        yfBgigjQgTDgrmiQnLiwrmiQnLiwk+DAk+DApZCg/wAAeFjwk+DAgTDgrmiQigjQ5Hgw/wAAigjQ5HgweFjwk+DA26BAigjQ\
        t0CA5Hgwk+DAgTDg5HgwwBhw26BAigjQpZCgnLiw26BAyfBgt0CA5HgweFjwt0CA26BArmiQyfBgrmiQ9igQ/wAA0shQ7VAg\
        nLiwgTDg9igQk+DAgTDgnLiwpZCgwBhwyfBgk+DAk+DA/wAAnLiw0shQwBhwpZCgpZCgeFjwt0CA
        """),
    PictureFixture(
      name: "bmp rle8", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        Qk3SAAAAAAAAAHYAAAAoAAAADQAAAAcAAAABAAgAAQAAAFwAAAATCwAAEwsAABAAAAAAAAAAAAD/ABAo9gAgUO0AMHjkAECg\
        2wBQyNIAYPDJAHAYwACAQLcAkGiuAKCQpQCwuJwAwOCTANAIigDgMIEA8Fh4AAAFAQIDBAUACAkAAAUCAAgBAgMEBQYHCAAA\
        AAUBAgMEBQAICQAABQIACAECAwQFBgcIAAAABQECAwQFAAgJAAAFAgAIAQIDBAUGBwgAAAAFAQIDBAUACAkAAAAB
        """,
      pixels: """
        9igQ7VAg5Hgw26BA0shQrmiQrmiQrmiQrmiQrmiQrmiQrmiQrmiQ7VAg7VAg7VAg7VAg7VAg9igQ7VAg5Hgw26BA0shQyfBg\
        wBhwt0CA9igQ7VAg5Hgw26BA0shQrmiQrmiQrmiQrmiQrmiQrmiQrmiQrmiQ7VAg7VAg7VAg7VAg7VAg9igQ7VAg5Hgw26BA\
        0shQyfBgwBhwt0CA9igQ7VAg5Hgw26BA0shQrmiQrmiQrmiQrmiQrmiQrmiQrmiQrmiQ7VAg7VAg7VAg7VAg7VAg9igQ7VAg\
        5Hgw26BA0shQyfBgwBhwt0CA9igQ7VAg5Hgw26BA0shQrmiQrmiQrmiQrmiQrmiQrmiQrmiQrmiQ
        """),
    PictureFixture(
      name: "pnm P1", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        UDEKIyBhIGNvbW1lbnQKMTMgNwoxMTExMTExMTExMTExMTExMTExMTExMTEwMDExMTExMTExMDAwMDAxMTExMTAwMDAwMDAw\
        MTEwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAw
        """,
      pixels: """
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA//8AAAAAAAAAAP//////AAAAAAD//////////wAA////////////////////////\
        /////////////////////////w==
        """),
    PictureFixture(
      name: "pnm P2", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        UDIgMTMgNyAyNTUKMSA4IDE0IDIxIDI4IDM1IDQzIDUwIDU3IDY0IDcxIDc4IDg1IDIzIDMwIDM3IDQ0IDUxIDU4IDY1IDcy\
        IDc5IDg3IDkzIDEwMCAxMDggNDYgNTMgNTkgNjcgNzMgODEgODggOTUgMTAxIDEwOCAxMTYgMTIzIDEzMCA2OCA3NSA4MiA4\
        OSA5NiAxMDQgMTEwIDExNyAxMjQgMTMxIDEzOCAxNDYgMTUzIDkwIDk3IDEwNSAxMTEgMTE4IDEyNiAxMzIgMTM5IDE0NiAx\
        NTMgMTYxIDE2OCAxNzUgMTEzIDEyMCAxMjcgMTM0IDE0MSAxNDggMTU1IDE2MiAxNjkgMTc2IDE4NCAxOTAgMTk3IDEzNiAx\
        NDIgMTUwIDE1NyAxNjMgMTcwIDE3OCAxODUgMTkxIDE5OSAyMDUgMjEzIDIyMA==
        """,
      pixels: """
        AQgOFRwjKzI5QEdOVRceJSwzOkFIT1ddZGwuNTtDSVFYX2VsdHuCREtSWWBobnV8g4qSmVphaW92foSLkpmhqK9xeH+GjZSb\
        oqmwuL7FiI6WnaOqsrm/x83V3A==
        """),
    PictureFixture(
      name: "pnm P3", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        UDMKMTMgNwoyNTUKMQowCjAKMTkKMAoxMgozOQowCjI0CjU4CjAKMzYKNzgKMAo0OAo5NQowCjYwCjExNwowCjcyCjEzNQow\
        Cjg0CjE1NQowCjk2CjE3MwowCjEwOAoxOTMKMAoxMjAKMjA5CjAKMTMyCjIyOQowCjE0NAozCjM2CjEyCjIwCjM2CjI0CjQx\
        CjM2CjM2CjU5CjM2CjQ4Cjc5CjM2CjYwCjk4CjM2CjcyCjExNAozNgo4NAoxMzQKMzYKOTYKMTUyCjM2CjEwOAoxNzIKMzYK\
        MTIwCjE5MQozNgoxMzIKMjExCjM2CjE0NAoyMzEKMzYKMTU2CjEKNzIKMjQKMTkKNzIKMzYKNDAKNzIKNDgKNjAKNzIKNjAK\
        NzgKNzIKNzIKOTUKNzIKODQKMTE2CjcyCjk2CjEzNgo3MgoxMDgKMTU0CjcyCjEyMAoxNzQKNzIKMTMyCjE5MAo3MgoxNDQK\
        MjA5CjcyCjE1NgoyMzEKNzIKMTY4CjIKMTA4CjM2CjIwCjEwOAo0OAo0MQoxMDgKNjAKNTgKMTA4CjcyCjc5CjEwOAo4NAo5\
        NwoxMDgKOTYKMTE2CjEwOAoxMDgKMTM0CjEwOAoxMjAKMTU1CjEwOAoxMzIKMTcxCjEwOAoxNDQKMTkyCjEwOAoxNTYKMjA5\
        CjEwOAoxNjgKMjMwCjEwOAoxODAKMQoxNDQKNDgKMjAKMTQ0CjYwCjM5CjE0NAo3Mgo1NwoxNDQKODQKNzcKMTQ0Cjk2Cjk3\
        CjE0NAoxMDgKMTE1CjE0NAoxMjAKMTM2CjE0NAoxMzIKMTU1CjE0NAoxNDQKMTcyCjE0NAoxNTYKMTkxCjE0NAoxNjgKMjEx\
        CjE0NAoxODAKMjMwCjE0NAoxOTIKMQoxODAKNjAKMjIKMTgwCjcyCjQxCjE4MAo4NAo1OAoxODAKOTYKNzgKMTgwCjEwOAo5\
        OAoxODAKMTIwCjExNQoxODAKMTMyCjEzNAoxODAKMTQ0CjE1NQoxODAKMTU2CjE3MgoxODAKMTY4CjE5MgoxODAKMTgwCjIx\
        MgoxODAKMTkyCjIzMAoxODAKMjA0CjEKMjE2CjcyCjIyCjIxNgo4NAozOQoyMTYKOTYKNTgKMjE2CjEwOAo3NgoyMTYKMTIw\
        Cjk1CjIxNgoxMzIKMTE2CjIxNgoxNDQKMTM2CjIxNgoxNTYKMTUyCjIxNgoxNjgKMTcyCjIxNgoxODAKMTkyCjIxNgoxOTIK\
        MjA5CjIxNgoyMDQKMjMxCjIxNgoyMTY=
        """,
      pixels: """
        AQAAEwAMJwAYOgAkTgAwXwA8dQBIhwBUmwBgrQBswQB40QCE5QCQAyQMFCQYKSQkOyQwTyQ8YiRIciRUhiRgmCRsrCR4vySE\
        0ySQ5yScAUgYE0gkKEgwPEg8TkhIX0hUdEhgiEhsmkh4rkiEvkiQ0Uic50ioAmwkFGwwKWw8OmxIT2xUYWxgdGxshmx4m2yE\
        q2yQwGyc0Wyo5my0AZAwFJA8J5BIOZBUTZBgYZBsc5B4iJCEm5CQrJCcv5Co05C05pDAAbQ8FrRIKbRUOrRgTrRsYrR4c7SE\
        hrSQm7ScrLSowLS01LTA5rTMAdhIFthUJ9hgOthsTNh4X9iEdNiQiNicmNiorNi0wNjA0djM59jY
        """),
    PictureFixture(
      name: "pnm P4", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        UDQKMTMgNwr/8Pqo3qiqoOqQKUCkEA==
        """,
      pixels: """
        AAAAAAAAAAAAAAAA/wAAAAAA/wD/AP8A/wAAAP8AAAAA/wD/AP8AAP8A/wD/AP8A/wD//wAAAP8A/wD/AP//AP///wD/AP//\
        AP8A////AP8A//8A//////8A/w==
        """),
    PictureFixture(
      name: "pnm P5", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        UDUKMTMgNwoyNTUKAAcPFh0jKzI5QEdOVRceJSwzOkFIT1ddZWstNTxCSVFXX2Ztc3uCREtSWWFnbnV9hIuSmFphaHB3fYWM\
        kpqhqK9xeH+GjZSboqmwt7/FiI+VnKOrsrnAx87V3A==
        """,
      pixels: """
        AAcPFh0jKzI5QEdOVRceJSwzOkFIT1ddZWstNTxCSVFXX2Ztc3uCREtSWWFnbnV9hIuSmFphaHB3fYWMkpqhqK9xeH+GjZSb\
        oqmwt7/FiI+VnKOrsrnAx87V3A==
        """),
    PictureFixture(
      name: "pnm P6", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        UDYgMTMgIyB3aWRlCjcKMjU1CgEAABMADCcAGDoAJE4AMF8APHUASIcAVJsAYK0AbMEAeNEAhOUAkAMkDBQkGCkkJDskME8k\
        PGIkSHIkVIYkYJgkbKwkeL8khNMkkOcknAFIGBNIJChIMDxIPE5ISF9IVHRIYIhIbJpIeK5IhL5IkNFInOdIqAJsJBRsMCls\
        PDpsSE9sVGFsYHRsbIZseJtshKtskMBsnNFsqOZstAGQMBSQPCeQSDmQVE2QYGGQbHOQeIiQhJuQkKyQnL+QqNOQtOaQwAG0\
        PBa0SCm0VDq0YE60bGK0eHO0hIa0kJu0nKy0qMC0tNS0wOa0zAHYSBbYVCfYYDrYbEzYeF/YhHTYkIjYnJjYqKzYtMDYwNHY\
        zOfY2A==
        """,
      pixels: """
        AQAAEwAMJwAYOgAkTgAwXwA8dQBIhwBUmwBgrQBswQB40QCE5QCQAyQMFCQYKSQkOyQwTyQ8YiRIciRUhiRgmCRsrCR4vySE\
        0ySQ5yScAUgYE0gkKEgwPEg8TkhIX0hUdEhgiEhsmkh4rkiEvkiQ0Uic50ioAmwkFGwwKWw8OmxIT2xUYWxgdGxshmx4m2yE\
        q2yQwGyc0Wyo5my0AZAwFJA8J5BIOZBUTZBgYZBsc5B4iJCEm5CQrJCcv5Co05C05pDAAbQ8FrRIKbRUOrRgTrRsYrR4c7SE\
        hrSQm7ScrLSowLS01LTA5rTMAdhIFthUJ9hgOthsTNh4X9iEdNiQiNicmNiorNi0wNjA0djM59jY
        """),
    PictureFixture(
      name: "pnm P6 to 100", width: 13, height: 7, format: .rgb, tolerance: 1, orientation: 1,
      file: """
        UDYgMTMgNyAxMDAKAAAABwAEDwAJFgAOHgASJQAXLQAcNAAgPAAlQwAqSwAvUQAzWQA4AQ4EBw4JEA4OFw4SHg4XJg4cLA4g\
        NA4lOw4qQw4vSg4zUg44Wg49ABwJBxwODxwSFxwXHhwcJRwgLRwlNRwqPBwvRBwzShw4URw9WhxBACoOByoSECoXFiocHiog\
        JiolLSoqNCovPCozQyo4Syo9USpBWipGADgSBzgXDzgcFjggHjglJjgqLTgvNTgzPDg4Qzg9SjhBUjhGWjhLAEYXCEYcEEYg\
        FkYlHkYqJkYvLUYzNEY4PEY9Q0ZBS0ZGU0ZLWkZQAFQcCFQgD1QlFlQqHVQvJVQzLVQ4NVQ9O1RBQ1RGS1RLUVRQWlRU
        """,
      pixels: """
        AAAAEgAKJgAXOAAkTAAuXgA7cwBHhQBSmQBeqwBrvwB4zwCC4wCPAyQKEiQXKSQkOyQuTCQ7YSRHcCRShSReliRrqyR4vSSC\
        0SSP5iScAEcXEkckJkcuO0c7TEdHXkdSc0deh0drmUd4rUeCvUePz0ec5kemAGskEmsuKWs7OGtHTGtSYWtec2trhWt4mWuC\
        q2uPv2ucz2um5muyAI8uEo87Jo9HOI9STI9eYY9rc494h4+CmY+Pq4+cvY+m0Y+y5o+/ALI7FLJHKbJSOLJeTLJrYbJ4c7KC\
        hbKPmbKcq7Kmv7Ky1LK/5rLMANZHFNZSJtZeONZrStZ4XtaCc9aPh9acltamq9ayv9a/z9bM5tbW
        """),
    PictureFixture(
      name: "pnm P6 of 16 bits", width: 13, height: 7, format: .rgb, tolerance: 0, orientation: 1,
      file: """
        UDYgMTMgNyA2NTUzNQpFzr0RgdF6jx2NFR82585zGeFu0f0f2JD/wlChmWEpFEildHpTyEbP4unNgi3oFHPhBvV0YbJvwb62\
        AW8QZdnTSUyRByTcHFDXqK1lIBzgnASBWkFUNMH1l2sCJeLlsjpkDfALK4qlu+vD21NPCM1/KbIeuam/mBXXn7y+9iJGEZk/\
        r9MOQWCwcenlCiugSzi+eNUvuFJ7AOH6yu2FrDp/dFlcamfYOXtxSIHJMJ9gBYDK+oJ0OOqTc/453SkT0OglnuEJRMA6rjRF\
        64PIr1euYh/zQS+sRgq/KR13zwd5SxgtvqQVXgfEbR/rXpmQPbdFbNoZLOdnODq7tZZWBLvlrssF9oLgPtV6hb77tsP6XBZG\
        tPYzBLYjp5w51xF7fCKCW7VtYuTkvgrl4Tc6Jgq6+eE4iCXDhE9e20zslH/C+knagCKJlONfBxAMra9KTUf5bvfKEDMSJyYy\
        XVTI/vOWUQrlrcltdVom2rjMqJZuwJ9dQwgWWmw6Vua40+9+qanv0saYtRWg8wMQq8f3harldAcKgH9a6zcXPEqqSYyLmsTU\
        i/IggIYttrJHNxF3MMRmA9o9Mq+5z5AreeBIQyThm6Wu2bmtfYuza8/aqzoe86ynpXr2grwMfKF4ObLPTTZFb2klA7PoAM9Z\
        5BrKyprVVnwh9Umimlyd84EVrlEloWFmKPlbhJvEtPzvjLbF20Yir/gSo3VZuI0/g9wL0FRBiT0=
        """,
      pixels: """
        RryBeh0VN84abvzY/1CZKUh0U0fizS4U4PRhb74BENlJkCUc160g4ARaVMGXAuKyZO8rpevaT80qH6mX17z1RpmvDmBx5CtL\
        vtS4e+HKhTp0XGc5cYEwYID6dOp0OinQJeBEOjTryFdi8i9Gvh3OeRi+FQht6pk9RdktZzu1VruuBoI/er62+Ra0M7WnOhF8\
        grVj5AvgOgv5OCaEXk2UwkqAieIHDa9N+PcQEiZdyPNR5cl1J7iobp9DFmxXuO+p78a0oAOr96p0Cn/qF0pJi8SLIIa2RxEx\
        ZtkyuZB5SCWbrrl9s8+rH6yl9rt8eLJNRWkE58/jyppWIkmanYGuJWEpW5u077baI/ejWY2DDFSJ
        """),
    PictureFixture(
      name: "pnm P5 of 16 bits", width: 13, height: 7, format: .gray, tolerance: 0, orientation: 1,
      file: """
        UDUgMTMgNyA2NTUzNQpFznqPNudu0f/CKRRTyM2C4QZvwRBlkQfXqOCcVDQCJWQNpbtPCB65159GEQ5B5Qq+eHsAhaxcanFI\
        YAV0ODndJZ46rsiv80G/KXlLFV7rXkVsZzhWBAX2eoX6XDMEOdeCW+S+OiY4iF7bwvqJlAyt+W4SJ8j+5a0m2m7AFlq40+/S\
        oPP3hQqAFzyLmiCARzdmA7nPSEOu2bNrHvP2gng5RW/oAMrKIfWd8yWhW4TvjCKvWbgL0A==
        """,
      pixels: """
        Rno3bv8pU83gbxCQ1+BUAmSlTx/XRg7kvnuFXHFgdDolOsjyvnkV6kVnVgZ6+TM6guQ6OF7CiQ34EsjlJ24WuO+g9woXiyBH\
        ZrlIrrMf9nhF58oinSVb7yNZDA==
        """),
    PictureFixture(
      name: "jpeg gray", width: 13, height: 7, format: .gray, tolerance: 2, orientation: 1,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsI\
        CQoKCgoKBggLDAsKDAkKCgr/wAALCAAHAA0BAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgED\
        AwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RF\
        RkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJ\
        ytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APE/2fv+CQug5gH9nWnboy19mfDL/gkJoQ8Pj/iX2nb+\
        JP8AGv/Z
        """,
      pixels: """
        AAcOFR0kKzI5P0dOVBceJiwzOkFIT1ZdZWsuNTxCSlBYX2ZsdHuBREtSWWFob3Z8goqRl1phaG92fYWMlJqiqa9yeYCGjZSc\
        o6ivtr7Eh46Vm6KpsbjBx8/W3A==
        """),
    PictureFixture(
      name: "jpeg 4:4:4", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 1,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsI\
        CQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK\
        CgoKCgoKCgoKCgoKCgr/wAARCAAHAA0DAREAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAA\
        AgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6\
        Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXG\
        x8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREA\
        AgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5\
        OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPE\
        xcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDxP9n7/gkLoWYB/Z9p2/iWvlcm4yqaas/I\
        PDH6RGL9z3pfifZvwy/4JCaCdAH/ABL7TqP41r9Sy/jKp7Ddn98cIfSHxLyz4pdO5//Z
        """,
      pixels: """
        AwACFQENKgAaPQAmTwAwYgA9dwBJiABVnABjrQBswAB50wGI5QCRASQMESYXJiUjOSUwSyU8XiVGcyRThCVfmSVsqiV2vCWE\
        0CaR5CSbA0cWEkkhJ0cvO0c5TUhFYUdSdUhfhklqm0h2rkaBwEiP0kmb5kamBGsmE20wKGw9PGtJTmtVYWtgdmtvh216nW2H\
        r2uQwmue1W2s6Gy1Ao8xEpA8JpBIOo9UTJBhYI9tdY55hZGFmpCRrY+bv4+p0pC25o7AArY7EbdHJrZUObVfTLZrYLZ3c7aD\
        hLeOmrebrbWmvraz0rfA5bXLAtdJEtdTJthgOdZrS9d2X9aCc9ePhNicmdipq9ezvtfB0dnO5dfX
        """),
    PictureFixture(
      name: "jpeg 4:2:0", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 1,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwg\
        IyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo\
        KCgoKCgoKCgoKCgoKCj/wAARCAAHAA0DASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAA\
        AgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6\
        Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXG\
        x8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREA\
        AgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5\
        OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPE\
        xcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDm/D/wzi+X5E/MV6Jpnwzi+z/cT8xRRXNg\
        sXVtuefwxn2N5PjP/9k=
        """,
      pixels: """
        AQEACQUGGQgQKQoaPAkoUAk1ZwhCegZNkAZcoARlsgZywgl+zguFDh4TFyMZJSUjNygvSSY6XSZGdCVVhyNhnSVvriJ5wCSF\
        0SeR3SiZDj8fF0IkJkYvN0c6S0dGXkZTdEZih0NsnUR6r0KFwUSQ0Uec3UikEmcuG2ozKm4/PHBKTm5WYm5ieG1xjGt8oWyK\
        smmUxGuh1G+r4nC1Doo2Fo09JZBINpJTSZFfXZFrc5F5ho6Dm4+TrY2cv4+pz5K025K9D6pCGK5KJ7NTOLReSbNpX7N3dbOE\
        h7CQnrGerq+pwbC20rTA3LXIGs5TItFaMdVlQtdxVdZ8adWJf9WWk9KjqdKwutK8zNTH29bS6Njb
        """),
    PictureFixture(
      name: "jpeg progressive", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 1,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcp\
        LDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwhMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIy\
        MjIyMjIyMjIyMjIyMjL/wgARCAAHAA0DASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAQF/8QAFAEBAAAAAAAAAAAA\
        AAAAAAAAA//aAAwDAQACEAMQAAABh2gx/8QAGRAAAgMBAAAAAAAAAAAAAAAAAQQAAgMR/9oACAEBAAEFAskBKIDn/8QAGBEA\
        AgMAAAAAAAAAAAAAAAAAAAQDETH/2gAIAQMBAT8BQblrT//EABYRAQEBAAAAAAAAAAAAAAAAAAMAAv/aAAgBAgEBPwEk1f/E\
        ABQQAQAAAAAAAAAAAAAAAAAAABD/2gAIAQEABj8CP//EABcQAAMBAAAAAAAAAAAAAAAAAAABIUH/2gAIAQEAAT8hiiMVH//a\
        AAwDAQACAAMAAAAQi//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQMBAT8Qe//EABYRAAMAAAAAAAAAAAAAAAAAAAARMf/a\
        AAgBAgEBPxBKn//EABUQAQEAAAAAAAAAAAAAAAAAAADh/9oACAEBAAE/EJimT//Z
        """,
      pixels: """
        AAIABgYIFQoSJgseOgkpTAc0ZQdFeQVQjwRdnwNosgRzwQh/zQmFDSMWGCgeKSsqOSw1Syo/XylNdihaiydnoCV1siN9xCWJ\
        0ymU3yqdCz4dFUQkJUcvNkg6R0ZEXERSdENgiUJsn0J7r0CFwUKR0UWb3UajDWUrGGkxKW0+OW1HS2tTYGpfdmpuimh5o2qL\
        tWiUxmmg1W2q4m+0DIo2FpA9J5NIOJRVS5FfYI9rd5B7i46Hoo+Vso2ew46q05K04JO9D6xBGLFJKLRUObVfTbJsYbB3eLGG\
        jK+RoKyesKunwq2y0rC+3bLFF85SIdNbMtZmQtdxVNR9adOJgtOYltGjq9Cxu866zdDF3NLQ6NXX
        """),
    PictureFixture(
      name: "jpeg cmyk", width: 13, height: 7, format: .rgb, tolerance: 3, orientation: 1,
      file: """
        /9j/7gAOQWRvYmUAZAAAAAAA/9sAQwACAQEBAQECAQEBAgICAgIEAwICAgIFBAQDBAYFBgYGBQYGBgcJCAYHCQcGBggLCAkK\
        CgoKCgYICwwLCgwJCgoK/8AAFAgABwANBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//E\
        ALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2\
        Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrC\
        w8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwD4P/4JTAH+zWwSAU79OlYv/END\
        4Q/6Aum/9/I/8a+Sf2JP2NdP/wBE/wBGh/h7iv38r+if9jBlHwqQ+YRkJj8jR/xDQ+EP+gLpv/fyP/Gv1c/Z8/Y10/8A4Qlf\
        9Gh/h7j0NFf/2Q==
        """,
      pixels: """
        AQAAFgAMKAAYPAAjTQAwXwA8cgBIhwBUmgBgrQBswAB40wCE5gCQASQMFCQYJiQkOiQvTCQ9YCRIciRUhiRgmiRsrCR4wCSE\
        0iSQ5SScAkgYFUgkJkgwOkg7TUhJYUhUc0hgh0hsmkh4rEiEv0iQ0Uic5UipA2wkFmwwJ2w8O2xITmxVYmxgdGxsiGx4m2yE\
        rWyQwGyc0myo5my1ApAwFZA8J5BIO5BTTZBgYJBsc5B4h5CEmpCQrZCcwZCo05C05pDAAbQ8FbRIJ7RUO7RgTbRtYLR4crSF\
        hrSQmbScrLSowLS107TA5rTNAdhHFdhTJ9hfPNhrTth4YdiDc9iQhtibmNinrNizwNjA0tjL5NjY
        """),
    PictureFixture(
      name: "jpeg orientation 1", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 1,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAEAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vypXZ2XgCPyfupRRWGFxNS25x5Bm+L5PiP/9k=
        """,
      pixels: """
        AAMBBwcJFwwUKA0gOwoqTgk2ZghGewdSkQZfoQVqtAZ1wwqBzwuHCR8SEyMZJScmNSgxRyY7WyVJciRWhyNjnSJyryB6wSKG\
        0CaR3CeaD0IhGUgoKUszOkw+S0pIYEhWeUhljUZwo0Z/s0SJxUaV1Umf4UqnC2MpF2gwJ2s8OGxGSWlRXmhddWltiWd4n2aH\
        sWSQw2ad0mqn3muwC4k1FI47JZFGNpJTSpBeXo1pdY55iYyFn4ySr4qbwYyo0ZCy3ZC6E7BFHLVNLLhYPbljUbZwZrV8fLWK\
        kLOVp7OltrGtyLO42LbE5LnME8pOHc9XLtJiPtNtUNB5Zc+Ffs+Uks2fqM2uuMu3ys3C2tDO5dLU
        """),
    PictureFixture(
      name: "jpeg orientation 2", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 2,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAIAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vypXZ2XgCPyfur+lFFYYXEVLbnHkGb4vk+I//Z
        """,
      pixels: """
        AAQABwcFFwwSKA0cOwooTgk1ZglCewdOkAZcoARlswZywgp8zguFCSAQEyMWJSciNSgvRyY5WyVFciRUhyNhoCZxsiR6xCaH\
        0ymT3yuZD0MfGUgmKUsyOkw8S0pGYElTeUljjUZunkF2rj+BwEGO0EWY3EagC2MnF2guJ2s6OGxFSWpPXmlbdWlriWd3omqH\
        tGeRxmqd1W2o4W6xC4ozFI45JZFFNpJRSpBcXo5odY54iYyDoo+Tso6cxJCn1JOz4JS7E7FDHLVLLLhXPblhUbduZrZ7fLWI\
        kLOToa6dsaymw6+x07K93rPGE8pOHc9XLtJhPtNrUNF3Zc+EftCSks2dq9Cvu864zdDF3dTP6NXX
        """),
    PictureFixture(
      name: "jpeg orientation 3", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 3,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAMAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vypXZ2XgCPyfur+lFFYYXEVLbnHkGb4vk+I//Z
        """,
      pixels: """
        AAQABwcFFwwSKA0cOwooTgk1ZglCewdOkAZcoARlswZywgp8zguFCSAQEyMWJSciNSgvRyY5WyVFciRUhyNhoCZxsiR6xCaH\
        0ymT3yuZD0MfGUgmKUsyOkw8S0pGYElTeUljjUZunkF2rj+BwEGO0EWY3EagC2MnF2guJ2s6OGxFSWpPXmlbdWlriWd3omqH\
        tGeRxmqd1W2o4W6xC4ozFI45JZFFNpJRSpBcXo5odY54iYyDoo+Tso6cxJCn1JOz4JS7E7FDHLVLLLhXPblhUbduZrZ7fLWI\
        kLOToa6dsaymw6+x07K93rPGE8pOHc9XLtJhPtNrUNF3Zc+EftCSks2dq9Cvu864zdDF3dTP6NXX
        """),
    PictureFixture(
      name: "jpeg orientation 4", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 4,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAQAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vypXZ2XgCPyfurRRWGFxFS25x5Bm+L5PiP/9k=
        """,
      pixels: """
        AAQABwcFFwwSKA0cOwooTgk1ZglCewdOkgheogZntQh0xAx+0A2HCSAQEyMWJSciNSgvRyY5WyVFciRUhyNhnCJtriB2wCKD\
        ziSO2yeVD0MfGUgmKUsyOkw8S0pGYElTeUljjUZuokV6skOFxEWS1Emc4EqkC2MnF2guJ2s6OGxFSWpPXmlbdWlriWd3oGiF\
        smWPxGib02um32yvC4ozFI45JZFFNpJRSpBcXo5odY54iYyDoY6SsIyawo6l0pGx35O6E7FDHLVLLLhXPblhUbduZrZ7fLWI\
        kLOTpbKhtbCqx7O117bB4rfKE8pOHc9XLtJhPtNrUNF3Zc+EftCSks2dp8yrt8q0yczB2dDL5NHT
        """),
    PictureFixture(
      name: "jpeg orientation 5", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 5,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAUAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vyrXZ2XgCPyfup+lFFYYXEVLbnHkGb4vl+I//Z
        """,
      pixels: """
        AQMACgkHGQwTKQ4dOgwpTgs2ZQxEeQpPjAZbngRksAZxwAl7zQqECx0PFSEVJCYhNCcuRSY4WCVEbiVTgiJfnihysCZ7wyeI\
        1CqU4CyaEUAeGUUkKUkxOks7SklFXklSdEhhiUdtnER3rEKCwEOP0EeZ3UehD2MoGmcvKWs7OW1GSWtQXWtcdWtsiGl4n2qG\
        sGiQw2mc02um4WywD4k0GI46J5FGOJJSSZJdXZFqdJB5h4+Eno+Sr42bw4+m05Ky35O6Fa5CHbJKLLZWPbdgT7ZtYbV5erWH\
        jLSSn7Cer6+nw7Cy1LO+4LPHFcdNHstVLtBgP9JqT9B2Y8+Des6Qjs6cqdKwudG5zNLG3dbQ6tbY
        """),
    PictureFixture(
      name: "jpeg orientation 6", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 6,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vypXZ2XgCPyfurRRWGFxFS25x5Bm+L5PiP/9k=
        """,
      pixels: """
        AAQABwcFFwwSKA0cOwooTgk1ZglCewdOkgheogZntQh0xAx+0A2HCSAQEyMWJSciNSgvRyY5WyVFciRUhyNhnCJtriB2wCKD\
        ziSO2yeVD0MfGUgmKUsyOkw8S0pGYElTeUljjUZuokV6skOFxEWS1Emc4EqkC2MnF2guJ2s6OGxFSWpPXmlbdWlriWd3oGiF\
        smWPxGib02um32yvC4ozFI45JZFFNpJRSpBcXo5odY54iYyDoY6SsIyawo6l0pGx35O6E7FDHLVLLLhXPblhUbduZrZ7fLWI\
        kLOTpbKhtbCqx7O117bB4rfKE8pOHc9XLtJhPtNrUNF3Zc+EftCSks2dp8yrt8q0yczB2dDL5NHT
        """),
    PictureFixture(
      name: "jpeg orientation 7", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 7,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAcAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vyr+ldnZeAI/J+6lFFYYXEVLbnHkGb4vk+I//Z
        """,
      pixels: """
        AAQABwcFFgsRJwwbOwooTQg0ZglCegZNkQddoQVmtAdzwwt9zwyGDCMTFiYZKColOCsySik8XihIdSdXiiZknSNuryF3wSOE\
        0CaQ3CiWCj4aE0IgJEYtNUc3RkVBW0ROc0NdiEFpo0Z7s0SGxUaT1Uqd4UulDmYqGWowKm49O29ITG1SYWxed2ttjGp6n2eE\
        sWSOw2ea0mql3muuDYw1F5E8KJRIOZVUTJJeYZFreJF7jI+Gn4yQr4uZwY2k0ZCw3ZG4Dqw+F7BGJ7NSOLRcTLJpYLB1d7CD\
        i66Op7SjtrGryLS22LfC5LnMFs1RINJaMdVkQdZuU9R6aNKHgdOVldCgqM2suMu1ys3C2tHM5dLU
        """),
    PictureFixture(
      name: "jpeg orientation 8", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 8,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAgAAAAAAAD/2wBDAAgGBgcGBQgHBwcJ\
        CQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/2wBDAQkJCQwLDBgNDRgyIRwh\
        MjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjL/wAARCAAHAA0DASIAAhEBAxEB/8QA\
        HwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKB\
        kaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWG\
        h4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA\
        HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEI\
        FEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOE\
        hYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oA\
        DAMBAAIRAxEAPwDE0rwBH8vypXZ2XgCPyfupRRWGFxNS25x5Bm+L5fiP/9k=
        """,
      pixels: """
        AAIBCAYJGAsUKA0gOQoqTQo2YwlGeAhSjghfoAVqsgh1wguBzwuHDB4SFiEZJScmNSgxRiY7WSVJbyVWhCRjmiRyrCF6vyOG\
        0CaR3CeaEkEhG0YoKkozO0s+S0pIX0lWdkplikdwoEd/sEWJxEeV1Eqf4UqnDmEpGWYwKGo8OGxGSGpRXGpddGlth2h4nWeH\
        rmWQwWed0mqn32qwDog1F4w7JpBGN5FTSJBeW49pc495ho2FnI2SrYubwYyo0ZCy3ZC6Fq9FHrNNLbdYPrhjULdwY7d8e7aK\
        jbSVpLWls7Ktx7S42LbE5bjMFshOIM1XL9FiQNJtUNB5ZNCFfNCUj86fpc6utc23yM7C2dHO5tLU
        """),
    PictureFixture(
      name: "jpeg without its end marker", width: 13, height: 7, format: .rgb, tolerance: 2, orientation: 1,
      file: """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwg\
        IyYnKSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo\
        KCgoKCgoKCgoKCgoKCj/wAARCAAHAA0DASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAA\
        AgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6\
        Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXG\
        x8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREA\
        AgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5\
        OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPE\
        xcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDm/D/wzi+X5E/SvRNL+GcX2f7ifpRRXNgs\
        XVtuefwxn2N5PjM=
        """,
      pixels: """
        AAAACAQFGAcPKAkZOwgnTwg0ZgdBeQVMjgRanwNksQVxwQh9zguFECAVGCQaJyclOCkwSyg8XyhIdidXiSVjniZwryN6wSWG\
        0iiS3yqbDT4eF0IkJkYvN0c6SkZFXkZTdEZih0NsnEN5rkGEwEOP0Uec3UikEGUsGmkyKW0+Om5ITW1VYW1hd2xwiml6n2qI\
        sGeSw2qg026q4G6zD4s3GI8/JpFJOJRVSpJgXpJsdJJ6iJCFnJCUro6dwJCq0JO13ZS/EKtDGK5KJ7NTOLReSrRqX7N3dbOE\
        iLGRnbCdrq+pwbC20rTA3bbJGMxRIdBZMNRkQNVvU9R6aNSIfdOUkdChp9Cut8+5ydHE2tXR5tbZ
        """),
  ]
}
